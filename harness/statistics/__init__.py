"""Intervals, agreement, paired tests, ranks: pure functions on counts and sequences."""

from __future__ import annotations

from harness.statistics.agreement import cohen_kappa
from harness.statistics.clusters import partition
from harness.statistics.corrected import Estimate, ppi_mean, rogan_gladen
from harness.statistics.intervals import Interval, Rate, wilson
from harness.statistics.means import bca_interval, clustered_se, score_interval, smoothed_se, t_interval
from harness.statistics.paired import holm, mcnemar, sign_flip
from harness.statistics.power import can_be_found, smallest_detectable
from harness.statistics.quantiles import normal_quantile, t_quantile
from harness.statistics.ranking import Places, place_intervals, shared_ranks
from harness.statistics.repeats import RunSpread, averaged, run_spread

__all__ = [
    "Estimate",
    "Interval",
    "Places",
    "Rate",
    "RunSpread",
    "averaged",
    "bca_interval",
    "can_be_found",
    "clustered_se",
    "cohen_kappa",
    "holm",
    "mcnemar",
    "normal_quantile",
    "partition",
    "place_intervals",
    "ppi_mean",
    "rogan_gladen",
    "run_spread",
    "score_interval",
    "shared_ranks",
    "sign_flip",
    "smallest_detectable",
    "smoothed_se",
    "t_interval",
    "t_quantile",
    "wilson",
]
