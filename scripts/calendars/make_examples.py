"""Writes calendars of twelve exchanges for the section `calendars` of a configuration file, from the package exchange_calendars.

    $(bash scripts/python_packages.sh calendars) scripts/calendars/make_examples.py > scripts/deploy/calendars.yaml
"""
import textwrap

import exchange_calendars as xcals
import pandas as pd

FIRST, LAST = "2024-01-01", "2027-12-31"
EXCHANGES = {
    "london": ("XLON", "London Stock Exchange"),
    "xetra": ("XFRA", "Xetra, Frankfurt"),
    "paris": ("XPAR", "Euronext Paris"),
    "swiss": ("XSWX", "SIX Swiss Exchange"),
    "tokyo": ("XTKS", "Tokyo Stock Exchange"),
    "hong_kong": ("XHKG", "Hong Kong Exchange"),
    "shanghai": ("XSHG", "Shanghai Stock Exchange"),
    "taiwan": ("XTAI", "Taiwan Stock Exchange"),
    "sydney": ("XASX", "Australian Securities Exchange"),
    "toronto": ("XTSE", "Toronto Stock Exchange"),
    "korea": ("XKRX", "Korea Exchange"),
    "sao_paulo": ("BVMF", "B3, Sao Paulo"),
}
HEAD = f"""\
# Calendars of twelve exchanges, for the section `calendars` of a configuration file. Written by scripts/calendars/make_examples.py from
# the package exchange_calendars {xcals.__version__}; regular hours without auctions.
calendars:"""
SESSION = '      - {{ days: [mon, tue, wed, thu, fri], from: "{}", to: "{}", status: regular{} }}'


def known_until(code):
    """Returns the last day that the package knows, up to LAST."""
    bound = xcals.get_calendar(code).bound_max()
    return LAST if bound is None else min(LAST, str(bound.date()))


def hours(calendar):
    """Returns the opening, the break and the close of each day, as texts."""
    times = calendar.schedule[["open", "break_start", "break_end", "close"]]
    return times.apply(lambda column: column.dt.tz_convert(calendar.tz).dt.strftime("%H:%M")).fillna("")


def spans_of(opening, pause, again, close):
    return [(opening, close)] if pause == "" else [(opening, pause), (again, close)]


def changes(table):
    """Returns the usual hours, each with the day on which they begin: hours change for good if a month has others than the months before."""
    found = []
    for _, days in table.groupby([table.index.year, table.index.month]):
        spans = spans_of(*days.value_counts().index[0])
        if not found or found[-1][1] != spans:
            first = next(day for day, row in days.iterrows() if spans_of(*row) == spans)
            found.append((None if not found else str(first.date()), spans))
    return found


def show(name, brackets, words):
    """Prints a list in lines. A zero stands for the space inside a word until the lines are made."""
    text = ", ".join(word.replace(" ", "\0") for word in words) + ","
    lines = textwrap.fill(text, 139, initial_indent="      ", subsequent_indent="      ", break_on_hyphens=False).replace("\0", " ")
    if words:
        print(f"    {name}: {brackets[0]}\n{lines}\n    {brackets[1]}")


def main():
    print(HEAD)
    for name, (code, title) in EXCHANGES.items():
        last = known_until(code)
        calendar = xcals.get_calendar(code, start=FIRST, end=last)
        table = hours(calendar)
        begins = changes(table)
        traded = {day.date() for day in table.index}
        early, late = [], []
        for day, row in table.iterrows():
            date = str(day.date())
            spans = [spans for since, spans in begins if since is None or since <= date][-1]
            if row.open != spans[0][0]:
                late.append(f'"{date}": "{row.open}"')
            if row.close != spans[-1][1]:
                early.append(f'"{date}": "{row.close}"')
        print(f"  {name}: # {title}\n    time_zone: {calendar.tz}\n    sessions:")
        for since, spans in begins:
            for span in spans:
                print(SESSION.format(*span, "" if since is None else f', since: "{since}"'))
        print(f'    known_until: "{last}"')
        show("closures", "[]", [f'"{day.date()}"' for day in pd.bdate_range(FIRST, last) if day.date() not in traded])
        show("early_closes", "{}", early)
        show("late_opens", "{}", late)


main()
