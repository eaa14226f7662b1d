"""The two kinds of items behind one face: how each is written, checked, mended, and put into its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from harness.authoring.generation import checks, recall, repairing
from harness.authoring.generation.draft import Draft
from harness.authoring.generation.journal import FOLDER, write_whole
from harness.authoring.generation.recall import Cluster
from harness.authoring.generation.wish import Spice, Wish
from harness.authoring.generation.writing import Author
from harness.authoring.skeletons import highest_number
from harness.errors import InputError, Problem

T = TypeVar("T")


class Maker(Protocol, Generic[T]):
    """Makes one kind of item; numbers count from 1 within a wish."""

    ending: str

    def taken(self) -> int:
        """Return the highest number that the output folder has already."""

    def begin(self, base: int) -> None:
        """Read what is there; `base` is what `taken` said when the wish began."""

    def name(self, item: T, number: int) -> str:
        """Return what an item is called."""

    def place(self, number: int) -> str:
        """Return the name that a number alone decides, "" where the item has a say in it."""

    async def write(self, number: int, spice: Spice) -> T:
        """Return an item written once."""

    async def mend(self, item: T, number: int, spice: Spice, problems: list[Problem], turn: str) -> T:
        """Return it mended."""

    def alone(self, item: T, number: int) -> list[Problem]:
        """Return what is wrong with it by itself."""

    def among(self, item: T, number: int) -> list[Problem]:
        """Return what is wrong with it beside what is there already."""

    def text(self, item: T, number: int) -> str:
        """Return its file."""

    def accept(self, item: T, number: int) -> None:
        """Put it into the output."""


def maker_for(wish: Wish, author: Author, folder: Path) -> Maker[Any]:
    """Return the maker of the items that are wished for."""
    return (_CaseMaker if wish.kind == "case" else _ClusterMaker)(wish, author, folder)


class _CaseMaker:
    """Cases, a file each, in the folder of their layer."""

    ending = ".yaml"

    def __init__(self, wish: Wish, author: Author, folder: Path) -> None:
        self._wish, self._author, self._folder = wish, author, folder
        self._base = 0

    def taken(self) -> int:
        return highest_number(self._folder, self._wish.layer)

    def begin(self, base: int) -> None:
        self._base = base
        if (self._folder / recall.FILE_NAME).exists():
            raise InputError(f"{self._folder}: holds a recall data set. Name another folder with --into.")
        self._neighbors = checks.Neighbors.of_folder(self._folder)

    def name(self, item: Draft, number: int) -> str:
        return f"{self._wish.layer}_{self._base + number:02}_{item.plan.slug}"

    def place(self, number: int) -> str:
        return ""

    async def write(self, number: int, spice: Spice) -> Draft:
        return await self._author.draft(self._wish, spice)

    async def mend(self, item: Draft, number: int, spice: Spice, problems: list[Problem], turn: str) -> Draft:
        return await repairing.repaired(self._author, item, spice, problems, turn)

    def alone(self, item: Draft, number: int) -> list[Problem]:
        return checks.problems_of(item, self.name(item, number))

    def among(self, item: Draft, number: int) -> list[Problem]:
        return self._neighbors.problems_with(item, self.name(item, number))

    def text(self, item: Draft, number: int) -> str:
        return item.text(self.name(item, number))

    def accept(self, item: Draft, number: int) -> None:
        name = self.name(item, number)
        path = self._folder / self._wish.layer / f"{name.partition('_')[2]}{self.ending}"
        write_whole(path, self.text(item, number))
        self._neighbors.add(path)


class _ClusterMaker:
    """Clusters of memories and queries, together in one data set."""

    ending = ".json"

    def __init__(self, wish: Wish, author: Author, folder: Path) -> None:
        self._wish, self._author, self._folder = wish, author, folder
        self._kept = folder / FOLDER / "clusters"
        self._base = 0
        self._others: dict[str, Cluster] = {}

    def taken(self) -> int:
        return max((int(path.stem[1:]) for path in self._kept.glob("c*.json")), default=0)

    def begin(self, base: int) -> None:
        self._base = base
        if any(self._folder.glob("layer*")):
            raise InputError(f"{self._folder}: holds a suite. Name another folder with --into.")
        for path in sorted(self._kept.glob("c*.json")):
            self._others[path.stem] = Cluster.from_data(json.loads(path.read_text(encoding="utf-8")))

    def name(self, item: Cluster, number: int) -> str:
        return self.place(number)

    def place(self, number: int) -> str:
        return f"c{self._base + number:03}"

    async def write(self, number: int, spice: Spice) -> Cluster:
        return await recall.cluster(self._author, self._wish, spice, self._base + number)

    async def mend(
        self, item: Cluster, number: int, spice: Spice, problems: list[Problem], turn: str
    ) -> Cluster:
        return await recall.cluster(
            self._author, self._wish, spice, self._base + number, item, problems, turn
        )

    def alone(self, item: Cluster, number: int) -> list[Problem]:
        return recall.problems_of(item, self._wish)

    def among(self, item: Cluster, number: int) -> list[Problem]:
        others = [one for name, one in self._others.items() if name != self.name(item, number)]
        return recall.problems_of(item, self._wish, others)

    def text(self, item: Cluster, number: int) -> str:
        return recall.data_set([item], self._wish)

    def accept(self, item: Cluster, number: int) -> None:
        name = self.name(item, number)
        self._others[name] = item
        write_whole(self._kept / f"{name}.json", json.dumps(item.as_data(), ensure_ascii=False) + "\n")
        ordered = [one for _, one in sorted(self._others.items())]
        write_whole(self._folder / recall.FILE_NAME, recall.data_set(ordered, self._wish))
