"""Writes the regular hours of markets by other calendars, as JSON: for each asked market a list of [opening, close] in UNIX seconds."""
import json
import sys

import exchange_calendars as xcals
import pandas_market_calendars as mcal


def seconds(times):
    return [int(time.timestamp()) for time in times]


def exchange(code, first, last):
    schedule = xcals.get_calendar(code, start=first, end=last).schedule
    spans = []
    for row in schedule.itertuples():
        if row.break_start == row.break_start:
            spans += [seconds([row.open, row.break_start]), seconds([row.break_end, row.close])]
        else:
            spans.append(seconds([row.open, row.close]))
    return spans


def futures(code, first, last):
    schedule = mcal.get_calendar(code).schedule(first, last)
    return [seconds([row.market_open, row.market_close]) for row in schedule.itertuples()]


KINDS = {"exchange_calendars": exchange, "pandas_market_calendars": futures}
asked = json.load(sys.stdin)
json.dump([KINDS[one["package"]](one["code"], one["first"], one["last"]) for one in asked], sys.stdout)
