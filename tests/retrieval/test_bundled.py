"""The corpora that come with the harness."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.evaluation import Evaluation
from harness.retrieval.dataset import Query, RetrievalSet
from harness.retrieval.loading import load_retrieval
from harness.retrieval.pages import read_page
from tests.retrieval.corpus import evaluated

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "fixtures" / "retrieval"
SETS = ("rescue", "smoke", "wiki")
SYSTEMS = (
    "fts5",
    "hybrid(embedder='hashing')",
    "hybrid(streams='fts5,vector,entities,links,raw', embedder='hashing')",
)
SINGLE = "single"
_WORD = re.compile(r"[^\W_]+")


def data(name: str) -> RetrievalSet:
    (one,) = load_retrieval(FOLDER / f"{name}.json")
    return one


@cache
def evaluation(name: str, system: str) -> Evaluation:
    return evaluated(system, data(name))


def figure(one: Evaluation, name: str) -> float:
    metric = one.metric(name)
    assert metric is not None
    assert metric.value is not None
    return metric.value


def mean_hit(one: Evaluation, tag: str) -> float:
    hits = [item.values["hit@5"] for item in one.items if tag in item.tags and item.detail["relevant"]]
    return sum(hit or 0.0 for hit in hits) / len(hits)


def tagged(one: RetrievalSet, tag: str) -> list[Query]:
    return [query for query in one.queries if tag in query.tags]


def test_the_folder_loads_sorted() -> None:
    assert tuple(one.id for one in load_retrieval(FOLDER)) == SETS


@pytest.mark.parametrize(
    ("name", "memories", "queries"), [("smoke", 36, 14), ("wiki", 44, 34), ("rescue", 40, 28)]
)
def test_sizes(name: str, memories: int, queries: int) -> None:
    one = data(name)
    assert len(one.memories) >= memories
    assert len(one.queries) >= queries
    assert one.name
    assert one.description


@pytest.mark.parametrize("name", SETS)
def test_nothing_stands_twice(name: str) -> None:
    one = data(name)
    for values in (
        [memory.id for memory in one.memories],
        [memory.content for memory in one.memories],
        [query.id for query in one.queries],
        [query.text for query in one.queries],
    ):
        assert [value for value, count in Counter(values).items() if count > 1] == []


@pytest.mark.parametrize("name", SETS)
def test_people_and_firms_are_invented(name: str) -> None:
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert all(number.startswith("555-01") for number in re.findall(r"\b\d{3}-\d{4}\b", text))
    assert all(host.endswith("example.com") for host in re.findall(r"@([\w.-]*\w)", text))
    assert "http" not in text
    headers = (next(yaml.safe_load_all(path.read_text("utf-8"))) for path in ROOT.glob("test_cases/*/*.yaml"))
    taken = set(chain.from_iterable(header["entities"] for header in headers))
    assert taken
    assert [entity for entity in taken if re.search(rf"\b{re.escape(entity)}\b", text)] == []


def test_every_cluster_of_near_misses_is_tagged() -> None:
    smoke = data("smoke")
    cluster_of: dict[str, str] = {memory.id: memory.metadata["cluster"] for memory in smoke.memories}
    members = Counter(cluster_of.values())
    clusters = {cluster for cluster in members if cluster != SINGLE}
    assert len(clusters) >= 8
    assert min(members[cluster] for cluster in clusters) >= 3
    for cluster in clusters:
        assert any(query.grades for query in tagged(smoke, cluster)), cluster
    for query in smoke.queries:
        (cluster,) = {*query.tags} & {*members}
        assert {cluster_of[id] for id in (*query.grades, *query.unwanted)} == {cluster}


@pytest.mark.parametrize(("tag", "least"), [("other-date", 3), ("other-owner", 4), ("superseded", 4)])
def test_kinds_of_near_misses(tag: str, least: int) -> None:
    assert len(tagged(data("smoke"), tag)) >= least


def test_some_smoke_queries_want_several_and_two_want_nothing() -> None:
    smoke = data("smoke")
    several = {query.id for query in smoke.queries if len(query.grades) > 1}
    assert several == {query.id for query in tagged(smoke, "several")}
    assert len(several) >= 4
    negative = [query for query in smoke.queries if query.negative]
    assert len(negative) == 2
    assert all(query.unwanted for query in negative)


def test_smoke_memories_are_bare() -> None:
    assert not any(memory.entities or memory.links or memory.raw for memory in data("smoke").memories)


@pytest.mark.parametrize(
    ("tag", "least"), [("keyword", 8), ("entity", 8), ("link", 8), ("paraphrase", 8), ("negative", 2)]
)
def test_wiki_queries_are_tagged_by_what_they_need(tag: str, least: int) -> None:
    wiki = data("wiki")
    assert len(tagged(wiki, tag)) >= least
    assert all(query.tags for query in wiki.queries)
    assert [query.id for query in wiki.queries if query.negative] == [
        it.id for it in tagged(wiki, "negative")
    ]


def wiki_pages() -> list[dict[str, Any]]:
    read: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / "wiki.json").read_text("utf-8"))
    return read["memories"]


def test_wiki_pages_have_front_matter_and_links_that_lead_somewhere() -> None:
    pages = [read_page(item["content"]) for item in wiki_pages()]
    titles = {page.title for page in pages}
    assert len(titles) == len(pages)
    assert all(page.entities for page in pages)
    assert [link for page in pages for link in page.links if link not in titles] == []
    assert [page.title for page in pages if page.title in page.links] == []
    assert sum(bool(page.links) for page in pages) >= len(pages) / 2


def test_what_a_link_probe_wants_is_linked() -> None:
    wiki = data("wiki")
    linked = set(chain.from_iterable(memory.links for memory in wiki.memories))
    for query in tagged(wiki, "link"):
        assert set(query.grades) <= linked, query.id


def test_wiki_queries_copy_no_page() -> None:
    wiki = data("wiki")
    runs: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for memory in wiki.memories:
        words = _WORD.findall(memory.text.casefold())
        for at in range(len(words) - 3):
            runs[tuple(words[at : at + 4])].add(memory.id)
    for query in wiki.queries:
        words = _WORD.findall(query.text.casefold())
        copied = [run for at in range(len(words) - 3) if (run := tuple(words[at : at + 4])) in runs]
        assert copied == [], query.id


def test_chance_of_a_hit_in_the_wiki_is_low() -> None:
    hit = evaluation("wiki", "fts5").metric("hit@5")
    assert hit is not None
    assert hit.chance is not None
    assert 0 < hit.chance < 0.15


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_figures_are_plausible(name: str, system: str) -> None:
    one = evaluation(name, system)
    judged = sum(bool(query.grades) for query in data(name).queries)
    assert one.errors == ()
    assert all(metric.n == metric.of == judged for metric in one.metrics)
    assert all(0 <= (metric.value or 0.0) <= 1 for metric in one.metrics)
    hit = one.metric("hit@5")
    assert hit is not None
    assert hit.value is not None
    assert hit.chance is not None
    assert 2 * hit.chance < hit.value < 1
    assert figure(one, "recall@5") <= figure(one, "recall@10")
    assert figure(one, "all@5") <= figure(one, "recall@5") <= hit.value


def test_keyword_search_finds_what_is_tagged_so_and_not_all_of_the_rest() -> None:
    words = evaluation("wiki", "fts5")
    assert mean_hit(words, "keyword") == 1
    for tag in ("entity", "link", "paraphrase"):
        assert mean_hit(words, tag) < 1


def test_entities_help_where_the_wiki_needs_them() -> None:
    words, both = (evaluation("wiki", system) for system in ("fts5", "hybrid(streams='fts5,entities')"))
    assert mean_hit(both, "entity") > mean_hit(words, "entity")
    assert mean_hit(both, "keyword") == mean_hit(words, "keyword")


def test_links_help_where_the_wiki_needs_them() -> None:
    words, both = (evaluation("wiki", system) for system in ("fts5", "hybrid(streams='fts5,links')"))
    assert mean_hit(both, "link") > mean_hit(words, "link")
