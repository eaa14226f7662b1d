"""Access to language models: providers, client, reply parsing, cassette, usage."""
