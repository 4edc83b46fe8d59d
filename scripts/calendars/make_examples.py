"""Writes calendars of twelve exchanges for the section `calendars` of a configuration file, from the package exchange_calendars.

    $(bash scripts/python_packages.sh calendars) scripts/calendars/make_examples.py > scripts/deploy/calendars.yaml
"""
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
WIDTH = 140


def known_until(code):
    """Returns the last day that the package knows, up to LAST."""
    calendar = xcals.get_calendar(code)
    bound = calendar.bound_max()
    return LAST if bound is None or str(bound.date()) > LAST else str(bound.date())


def local(series, zone):
    return series.dt.tz_convert(zone).dt.strftime("%H:%M")


def hours(calendar):
    """Returns the opening, the break and the close of each day, as texts."""
    table, zone = calendar.schedule, calendar.tz
    names = ["open", "break_start", "break_end", "close"]
    return pd.DataFrame({name: local(table[name], zone) for name in names})


def wrapped(words, indent, separator=", "):
    lines, line = [], ""
    for word in words:
        if line and len(indent) + len(line) + len(word) + 2 > WIDTH:
            lines.append(line)
            line = ""
        line += word + ","
        line += " "
    lines.append(line)
    return "\n".join(indent + text.rstrip() for text in lines)


def sessions(spans, since):
    suffix = "" if since is None else f', since: "{since}"'
    return "".join(
        f'      - {{ days: [mon, tue, wed, thu, fri], from: "{start}", to: "{end}", status: regular{suffix} }}\n' for start, end in spans
    )


def spans_of(row):
    if pd.isna(row.break_start):
        return [(row.open, row.close)]
    return [(row.open, row.break_start), (row.break_end, row.close)]


def usual(table):
    """Returns the most frequent hours of some days."""
    counts = table.fillna("").value_counts()
    opening, pause, again, close = counts.index[0]
    return [(opening, close)] if pause == "" else [(opening, pause), (again, close)]


def changes(table):
    """Returns the usual hours, each with the day on which they begin: hours change for good if a month has others than the months before."""
    found = []
    for _, days in table.groupby([table.index.year, table.index.month]):
        spans = usual(days)
        if not found or found[-1][1] != spans:
            first = next(day for day, row in days.iterrows() if spans_of(row) == spans)
            found.append((None if not found else str(first.date()), spans))
    return found


def main():
    print("# Calendars of twelve exchanges, for the section `calendars` of a configuration file. Written by scripts/calendars/make_examples.py from")
    print(f"# the package exchange_calendars {xcals.__version__}; regular hours without auctions.")
    print("calendars:")
    for name, (code, title) in EXCHANGES.items():
        last = known_until(code)
        calendar = xcals.get_calendar(code, start=FIRST, end=last)
        table = hours(calendar)
        begins = changes(table)
        weekdays = pd.bdate_range(FIRST, last)
        traded = {day.date() for day in table.index}
        closures = [f'"{day.date()}"' for day in weekdays if day.date() not in traded]
        early, late = [], []
        for day, row in table.iterrows():
            spans = [spans for since, spans in begins if since is None or since <= str(day.date())][-1]
            if row.open != spans[0][0]:
                late.append(f'"{day.date()}": "{row.open}"')
            if row.close != spans[-1][1]:
                early.append(f'"{day.date()}": "{row.close}"')
        print(f"  {name}: # {title}")
        print(f"    time_zone: {calendar.tz}")
        print("    sessions:")
        print("".join(sessions(spans, since) for since, spans in begins), end="")
        print(f'    known_until: "{last}"')
        print(f"    closures: [\n{wrapped(closures, '      ')}\n    ]")
        if early:
            print(f"    early_closes: {{\n{wrapped(early, '      ')}\n    }}")
        if late:
            print(f"    late_opens: {{\n{wrapped(late, '      ')}\n    }}")


main()
