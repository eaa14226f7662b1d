"""`python -m harness` is the `recallbench` command."""

from harness.cli.main import main

if __name__ == "__main__":
    main()
