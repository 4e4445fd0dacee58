#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <catch2/catch.hpp>

#include "millrace/env/error.hpp"

#include "window_operator.hpp"

using namespace millrace;

namespace {

/// What a window operator is given, word by word, and what it is to let out after each:
///
///     +5=1      a row at 5 of the value 1; +2:5=1: of key 2 instead of 1
///     @9        a watermark
///     !50       the wall clock
///     0..10=1   comes out (WindowOperator::taken)
///
/// `L` is the last instant of all, `end` the last watermark; both may have -1 or +1 behind them.
struct Situation {
  const char* name;
  const char* windows;
  const char* story;
};

const std::vector<Situation> tumbling_windows{
    {"a window fires at its last instant", "tumbling 10", "+5=1 @9 0..10=1"},
    {"and not one before", "tumbling 10", "+5=1 @8 @9 0..10=1"},
    {"one after is as good", "tumbling 10", "+5=1 @10 0..10=1"},
    {"a window fires once", "tumbling 10", "+5=1 @9 0..10=1 @10 @19 @end"},
    {"the start is in a window", "tumbling 10", "+10=1 @9 @19 10..20=1"},
    {"the end is not", "tumbling 10", "+20=1 @19 @29 20..30=1"},
    {"the instant before the end is", "tumbling 10", "+19=1 @19 10..20=1"},
    {"windows before 1970 are as long", "tumbling 10",
     "+-1=1 +-10=10 +-11=100 @-1 -10..0=11 -20..-10=100"},
    {"a window before 1970 fires at its last instant", "tumbling 10", "+-5=1 @-2 @-1 -10..0=1"},
    {"an offset moves windows", "tumbling 10 3",
     "+2=1 +3=10 +12=100 +13=1000 @12 -7..3=1 3..13=110 @22 13..23=1000"},
    {"an offset from the other side", "tumbling 10 -3", "+6=1 +7=10 @6 -3..7=1 @16 7..17=10"},
    {"an offset as long as the window is none", "tumbling 10 10", "+5=1 @9 0..10=1"},
    {"a window of one instant", "tumbling 1", "+5=1 +6=10 @4 @5 5..6=1 @6 6..7=10"},
    {"several windows at one watermark", "tumbling 10",
     "+5=1 +15=10 +35=100 @29 0..10=1 10..20=10 @39 30..40=100"},
    {"keys do not meet", "tumbling 10",
     "+5=1 +2:5=10 +3:15=100 @9 0..10=1 2:0..10=10 @19 3:10..20=100"},
    {"rows in disorder", "tumbling 10", "+15=1 +5=10 +9=100 @9 0..10=110 @19 10..20=1"},
    {"a row behind the watermark whose window is open", "tumbling 10", "+5=1 @7 +3=10 @9 0..10=11"},
    {"windows without rows do not exist", "tumbling 10",
     "+5=1 @9 0..10=1 @99 +105=1 @end 100..110=1"},
    {"no row, no result", "tumbling 10", "@5 @end"},
    {"a year without rows is skipped", "tumbling 10",
     "+5=1 +31536000005=2 @9 0..10=1 @end 31536000000..31536000010=2"},
};

const std::vector<Situation> late_rows{
    {"tumbling, no lateness, one before the end", "tumbling 10", "+5=1 @8 +6=10 @end 0..10=11"},
    {"tumbling, no lateness, at the end", "tumbling 10", "+5=1 @9 0..10=1 +6=10 late=10 @end"},
    {"tumbling, no lateness, one after the end", "tumbling 10",
     "+5=1 @10 0..10=1 +6=10 late=10 @end"},
    {"tumbling, lateness, one before clean-up", "tumbling 10, late 5",
     "+5=1 @13 0..10=1 +6=10 0..10=11#1 @end"},
    {"tumbling, lateness, at clean-up", "tumbling 10, late 5",
     "+5=1 @14 0..10=1 +6=10 late=10 @end"},
    {"tumbling, lateness, one after clean-up", "tumbling 10, late 5",
     "+5=1 @15 0..10=1 +6=10 late=10 @end"},
    {"tumbling, for ever, one before the end", "tumbling 10, late forever",
     "+5=1 @8 +6=10 @9 0..10=11"},
    {"tumbling, for ever, at the end", "tumbling 10, late forever",
     "+5=1 @9 0..10=1 +6=10 0..10=11#1"},
    {"tumbling, for ever, long after", "tumbling 10, late forever",
     "+5=1 @10 0..10=1 @L +6=10 0..10=11#1 @end-1 +7=100 0..10=111#2"},
    {"tumbling, for ever, but not after the last watermark", "tumbling 10, late forever",
     "+5=1 @end 0..10=1 +6=10 late=10"},
    {"tumbling purging, no lateness, one before the end", "tumbling 10, purging",
     "+5=1 @8 +6=10 @end 0..10=11"},
    {"tumbling purging, no lateness, at the end", "tumbling 10, purging",
     "+5=1 @9 0..10=1 +6=10 late=10"},
    {"tumbling purging, no lateness, one after the end", "tumbling 10, purging",
     "+5=1 @10 0..10=1 +6=10 late=10"},
    {"tumbling purging, lateness, one before clean-up", "tumbling 10, late 5, purging",
     "+5=1 @13 0..10=1 +6=10 0..10=10#1 +7=100 0..10=100#2 @end"},
    {"tumbling purging, lateness, at clean-up", "tumbling 10, late 5, purging",
     "+5=1 @14 0..10=1 +6=10 late=10"},
    {"tumbling purging, lateness, one after clean-up", "tumbling 10, late 5, purging",
     "+5=1 @15 0..10=1 +6=10 late=10"},
    {"tumbling purging, for ever, one before the end", "tumbling 10, late forever, purging",
     "+5=1 @8 +6=10 @9 0..10=11"},
    {"tumbling purging, for ever, at the end", "tumbling 10, late forever, purging",
     "+5=1 @9 0..10=1 +6=10 0..10=10#1"},
    {"tumbling purging, for ever, long after", "tumbling 10, late forever, purging",
     "+5=1 @L 0..10=1 +6=10 0..10=10#1"},

    {"sliding, no lateness, one before the first end", "sliding 10 5",
     "+7=1 @8 +8=10 @end 0..10=11 5..15=11"},
    {"sliding, no lateness, at the first end", "sliding 10 5",
     "+7=1 @9 0..10=1 +8=10 @end 5..15=11"},
    {"sliding, no lateness, one before the last end", "sliding 10 5",
     "+7=1 @13 0..10=1 +8=10 @end 5..15=11"},
    {"sliding, no lateness, at the last end", "sliding 10 5",
     "+7=1 @14 0..10=1 5..15=1 +8=10 late=10 @end"},
    {"sliding, no lateness, one after the last end", "sliding 10 5",
     "+7=1 @15 0..10=1 5..15=1 +8=10 late=10 @end"},
    {"sliding, lateness, a row changes one window and waits for the other", "sliding 10 5, late 3",
     "+7=1 @9 0..10=1 +8=10 0..10=11#1 @14 5..15=11"},
    {"sliding, lateness, one before the clean-up of the first", "sliding 10 5, late 3",
     "+7=1 @11 0..10=1 +8=10 0..10=11#1 @end 5..15=11"},
    {"sliding, lateness, at the clean-up of the first", "sliding 10 5, late 3",
     "+7=1 @12 0..10=1 +8=10 @end 5..15=11"},
    {"sliding, lateness, one before the clean-up of the last", "sliding 10 5, late 3",
     "+7=1 @16 0..10=1 5..15=1 +8=10 5..15=11#1 @end"},
    {"sliding, lateness, at the clean-up of the last", "sliding 10 5, late 3",
     "+7=1 @17 0..10=1 5..15=1 +8=10 late=10"},
    {"sliding, lateness, one after the clean-up of the last", "sliding 10 5, late 3",
     "+7=1 @18 0..10=1 5..15=1 +8=10 late=10"},
    {"sliding, long lateness: both windows again", "sliding 10 5, late 100",
     "+7=1 @14 0..10=1 5..15=1 +8=10 0..10=11#1 5..15=11#1 +12=100 5..15=111#2 @end 10..20=100"},
    {"sliding, for ever", "sliding 10 5, late forever",
     "+7=1 @9 0..10=1 @L 5..15=1 +8=10 0..10=11#1 5..15=11#1"},
    {"sliding, for ever, but not after the last watermark", "sliding 10 5, late forever",
     "+7=1 @end 0..10=1 5..15=1 +8=10 late=10"},
    {"sliding purging, no lateness, at the last end", "sliding 10 5, purging",
     "+7=1 @14 0..10=1 5..15=1 +8=10 late=10"},
    {"sliding purging, no lateness, one before it", "sliding 10 5, purging",
     "+7=1 @13 0..10=1 +8=10 @14 5..15=11"},
    {"sliding purging, lateness, one before clean-up", "sliding 10 5, late 3, purging",
     "+7=1 @11 0..10=1 +8=10 0..10=10#1 @14 5..15=11 @16 +8=100 5..15=100#1 @end"},
    {"sliding purging, lateness, at clean-up", "sliding 10 5, late 3, purging",
     "+7=1 @17 0..10=1 5..15=1 +8=10 late=10"},
    {"sliding purging, lateness, one after clean-up", "sliding 10 5, late 3, purging",
     "+7=1 @18 0..10=1 5..15=1 +8=10 late=10"},
    {"sliding purging, for ever", "sliding 10 5, late forever, purging",
     "+7=1 @L 0..10=1 5..15=1 +8=10 0..10=10#1 5..15=10#1"},

    {"session, no lateness, one before the end", "sessions 10", "+5=1 @13 +5=10 @end 5..15=11"},
    {"session, no lateness, at the end", "sessions 10", "+5=1 @14 5..15=1 +5=10 late=10 @end"},
    {"session, no lateness, one after the end", "sessions 10",
     "+5=1 @15 5..15=1 +5=10 late=10 @end"},
    {"session, lateness, one before clean-up", "sessions 10, late 5",
     "+5=1 @18 5..15=1 +5=10 5..15=11#1 @end"},
    {"session, lateness, at clean-up", "sessions 10, late 5",
     "+5=1 @19 5..15=1 +5=10 late=10 @end"},
    {"session, lateness, one after clean-up", "sessions 10, late 5",
     "+5=1 @20 5..15=1 +5=10 late=10 @end"},
    {"session, for ever, long after", "sessions 10, late forever",
     "+5=1 @14 5..15=1 @L +5=10 5..15=11#1"},
    {"session, for ever, but not after the last watermark", "sessions 10, late forever",
     "+5=1 @end 5..15=1 +105=10 late=10"},
    {"session purging, no lateness, one before the end", "sessions 10, purging",
     "+5=1 @13 +5=10 @14 5..15=11"},
    {"session purging, no lateness, at the end", "sessions 10, purging",
     "+5=1 @14 5..15=1 +5=10 late=10"},
    {"session purging, no lateness, one after the end", "sessions 10, purging",
     "+5=1 @15 5..15=1 +5=10 late=10"},
    {"session purging, lateness, one before clean-up", "sessions 10, late 5, purging",
     "+5=1 @18 5..15=1 +5=10 5..15=10#1 @end"},
    {"session purging, lateness, at clean-up", "sessions 10, late 5, purging",
     "+5=1 @19 5..15=1 +5=10 late=10"},
    {"session purging, lateness, one after clean-up", "sessions 10, late 5, purging",
     "+5=1 @20 5..15=1 +5=10 late=10"},
    {"session purging, for ever", "sessions 10, late forever, purging",
     "+5=1 @L 5..15=1 +5=10 5..15=10#1 +6=100 5..16=100"},

    {"global, no lateness, one before the end", "global", "+5=1 @L-1 +6=10 @L all=11"},
    {"global, no lateness, at the end", "global", "+5=1 @L all=1 +6=10 late=10 @end"},
    {"global, no lateness, one after the end", "global", "+5=1 @L+1 all=1 +6=10 late=10 @end"},
    {"global, lateness, one before clean-up", "global, late 5",
     "+5=1 @L+4 all=1 +6=10 all=11#1 @end"},
    {"global, lateness, at clean-up", "global, late 5", "+5=1 @L+5 all=1 +6=10 late=10"},
    {"global, lateness, one after clean-up", "global, late 5", "+5=1 @L+6 all=1 +6=10 late=10"},
    {"global, for ever, at the end", "global, late forever", "+5=1 @L all=1 +6=10 all=11#1"},
    {"global, for ever, one before the last watermark", "global, late forever",
     "+5=1 @end-1 all=1 +6=10 all=11#1 @end"},
    {"global, for ever, at the last watermark", "global, late forever",
     "+5=1 @end all=1 +6=10 late=10"},
    {"global purging, no lateness, one before the end", "global, purging",
     "+5=1 @L-1 +6=10 @L all=11"},
    {"global purging, no lateness, at the end", "global, purging", "+5=1 @L all=1 +6=10 late=10"},
    {"global purging, lateness, one before clean-up", "global, late 5, purging",
     "+5=1 @L+4 all=1 +6=10 all=10#1"},
    {"global purging, lateness, at clean-up", "global, late 5, purging",
     "+5=1 @L+5 all=1 +6=10 late=10"},
    {"global purging, for ever", "global, late forever, purging", "+5=1 @L all=1 +6=10 all=10#1"},
    {"global holds all times there are", "global", "+-62135596800000=1 +L=10 @end all=11"},

    {"a key's first row is late: its pane is 0", "tumbling 10, late 5",
     "+5=1 @9 0..10=1 +2:6=10 2:0..10=10 +2:7=100 2:0..10=110#1"},
    {"panes of different keys are counted apart", "tumbling 10, late 5",
     "+5=1 +2:5=1 @9 0..10=1 2:0..10=1 +5=10 0..10=11#1 +5=10 0..10=21#2 +2:5=10 2:0..10=11#1"},
    {"panes of different windows are counted apart", "sliding 10 5, late 20",
     "+7=1 @9 0..10=1 +7=10 0..10=11#1 @14 5..15=11 +7=100 0..10=111#2 5..15=111#1"},
    {"a late row opens a window that nobody had", "tumbling 10, late 5",
     "@9 +5=1 0..10=1 +6=10 0..10=11#1"},
    {"a late row beside windows to come", "tumbling 10, late 5",
     "+15=1 @9 +5=10 0..10=10 @19 10..20=1"},
    {"a late row fires once for each window", "sliding 10 2, late 100",
     "+9=1 @9 0..10=1 @17 2..12=1 4..14=1 6..16=1 8..18=1 +9=10 0..10=11#1 2..12=11#1 4..14=11#1 "
     "6..16=11#1 8..18=11#1"},
    {"a window whose clean-up is behind another's end", "tumbling 10, late 15",
     "+5=1 @19 0..10=1 +15=2 10..20=2 +5=10 0..10=11#1 @24 +5=100 late=100 +15=20 10..20=22#1"},
    {"lateness of nothing is none", "tumbling 10, late 0", "+5=1 @9 0..10=1 +6=10 late=10"},
};

const std::vector<Situation> sliding_windows{
    {"a row is in every window that holds it", "sliding 10 5", "+7=1 @9 0..10=1 @14 5..15=1 @end"},
    {"a row at a start", "sliding 10 5", "+5=1 @9 0..10=1 @14 5..15=1 @19"},
    {"a row before a start", "sliding 10 5", "+4=1 @4 -5..5=1 @9 0..10=1 @14"},
    {"windows before 1970", "sliding 10 5", "+-3=1 @-1 -10..0=1 @4 -5..5=1"},
    {"what leaves with the oldest pane", "sliding 10 5",
     "+2=1 +7=10 +12=100 @4 -5..5=1 @9 0..10=11 @14 5..15=110 @19 10..20=100"},
    {"all windows at one watermark", "sliding 10 5",
     "+2=1 +7=10 +12=100 @end -5..5=1 0..10=11 5..15=110 10..20=100"},
    {"a slide that does not divide the size", "sliding 10 4",
     "+9=1 +1=10 @5 -8..2=10 -4..6=10 @9 0..10=11 @13 4..14=1 @17 8..18=1"},
    {"a slide without a common divisor", "sliding 7 3", "+6=1 @6 0..7=1 @9 3..10=1 @12 6..13=1"},
    {"an offset", "sliding 10 5 2", "+7=1 @11 2..12=1 @16 7..17=1"},
    {"a slide as long as the size", "sliding 10 10", "+7=1 @9 0..10=1 @end"},
    {"a gap between rows longer than a window", "sliding 10 5",
     "+2=1 +102=10 @end -5..5=1 0..10=1 95..105=10 100..110=10"},
    {"a key that goes and comes back", "sliding 10 5",
     "+2=1 +2:7=1 @9 -5..5=1 0..10=1 2:0..10=1 @14 2:5..15=1 +22=10 @end 15..25=10 20..30=10"},
    {"a row for a window that is open, in a pane of one that is not", "sliding 10 5",
     "+7=1 +2:7=5 @9 0..10=1 2:0..10=5 +8=10 +3:8=100 @14 5..15=11 2:5..15=5 3:5..15=100 @end"},
    {"a late key alone in its pane", "sliding 10 5", "@9 +8=10 @14 5..15=10 @end"},
    {"a first row behind the watermark", "sliding 10 5", "@12 +8=1 @14 5..15=1"},
    {"a pane that comes late between others", "sliding 10 2",
     "+1=1 +9=100 @7 -8..2=1 -6..4=1 -4..6=1 -2..8=1 +6=10 @9 0..10=111 @11 2..12=110"},
    {"a late row in the running total and out of it", "sliding 10 5, late 100",
     "+2=1 +12=100 @14 -5..5=1 0..10=1 5..15=100 +2=10 -5..5=11#1 0..10=11#1 +12=1000 5..15=1100#1 "
     "@19 10..20=1100"},
    {"a total is rid of what has been added late", "sliding 10 5, late 6",
     "+7=1 @14 0..10=1 5..15=1 +8=10 0..10=11#1 5..15=11#1 +12=100 5..15=111#2 @19 10..20=100 "
     "@end"},
};

const std::vector<Situation> merging_windows{
    {"a row alone", "sessions 10", "+5=1 @13 @14 5..15=1"},
    {"rows closer than the gap", "sessions 10", "+5=1 +14=10 @14 @23 5..24=11"},
    {"rows as far apart as the gap are together", "sessions 10", "+5=1 +15=10 @24 5..25=11"},
    {"rows one further apart are not", "sessions 10", "+5=1 +16=10 @end 5..15=1 16..26=10"},
    {"a row before extends to the front", "sessions 10", "+15=1 +5=10 @24 5..25=11"},
    {"a row inside changes nothing of the bounds", "sessions 10",
     "+5=1 +14=10 +8=100 @end 5..24=111"},
    {"a row between two puts them together", "sessions 10", "+5=1 +25=10 +15=100 @end 5..35=111"},
    {"a row that touches only the first of two", "sessions 10",
     "+5=1 +30=10 +12=100 @end 5..22=101 30..40=10"},
    {"a row that touches only the second", "sessions 10",
     "+5=1 +30=10 +23=100 @end 5..15=1 23..40=110"},
    {"three become one at two rows", "sessions 10",
     "+0=1 +20=10 +40=100 +10=1000 +30=10000 @end 0..50=11111"},
    {"sessions of several keys", "sessions 10",
     "+5=1 +2:6=10 +12=100 @15 2:6..16=10 @21 5..22=101"},
    {"a session fires and the next begins", "sessions 10", "+5=1 @14 5..15=1 +16=10 @25 16..26=10"},
    {"several sessions of a key at one watermark", "sessions 10",
     "+5=1 +25=10 +45=100 @34 5..15=1 25..35=10 @54 45..55=100"},
    {"a moved end does not fire at the old place", "sessions 10",
     "+5=1 +10=10 @14 @18 @19 5..20=11"},
    {"an end that moves again and again", "sessions 10",
     "+0=1 @5 +9=1 @14 +18=1 @23 +27=1 @32 @36 0..37=4 @end"},
    {"sessions before 1970", "sessions 10", "+-5=1 +-12=10 @4 -12..5=11"},
    {"a row behind the watermark opens a session that is not over", "sessions 10",
     "@12 +5=1 @14 5..15=1"},
    {"a late row that touches a live session is taken", "sessions 10",
     "+15=1 @20 +5=10 @24 5..25=11"},
    {"and one that does not is dropped", "sessions 10", "+16=1 @20 +5=10 late=10 @25 16..26=1"},
    {"a late row that touches a session which is kept", "sessions 10, late 5",
     "+5=1 @16 5..15=1 +-5=10 -5..15=11"},
    {"a late row grows a fired session beyond the watermark: it waits", "sessions 10, late 5",
     "+5=1 @16 5..15=1 +12=10 @21 5..22=11"},
    {"a grown session counts its panes anew", "sessions 10, late 20",
     "+5=1 @16 5..15=1 +5=10 5..15=11#1 +6=100 5..16=111 +6=1000 5..16=1111#1"},
    {"late merging of two that have fired", "sessions 10, late 50",
     "+5=1 +25=10 @40 5..15=1 25..35=10 +15=100 5..35=111"},
    {"late merging of one that has fired with one that has not", "sessions 10, late 50",
     "+5=1 +25=10 @16 5..15=1 +15=100 @34 5..35=111 @end"},
    {"a covering row keeps the session's panes", "sessions 10, late 50",
     "+5=1 +12=10 @21 5..22=11 +7=100 5..22=111#1 +12=1000 5..22=1111#2"},
    {"a merged session fires at its end, and once", "sessions 10",
     "+5=1 +25=10 +15=100 @14 @24 @33 @34 5..35=111 @35"},
    {"purging leaves the session where it is", "sessions 10, late 20, purging",
     "+5=1 @14 5..15=1 +10=10 @19 5..20=10 +6=100 5..20=100#1"},
    {"a purged session merges: its bounds count and its rows do not",
     "sessions 10, late 50, purging", "+5=1 @14 5..15=1 +25=10 +15=100 @34 5..35=110"},
    {"the clean-up of a grown session is that of its new end", "sessions 10, late 5",
     "+5=1 @14 5..15=1 +10=10 @19 5..20=11 @23 +11=100 5..21=111 @25 +11=1000 late=1000"},
    {"clean-up of a session lets the next be a new one", "sessions 10",
     "+5=1 @14 5..15=1 @30 +31=10 @40 31..41=10"},
    {"a session while others of the key are kept", "sessions 10, late 100",
     "+5=1 @14 5..15=1 +50=10 @59 50..60=10 +51=100 @60 50..61=110"},
    {"a session of one instant", "sessions 1", "+5=1 +6=10 +8=100 @6 5..7=11 @8 8..9=100"},
};

const std::vector<Situation> triggers_of_windows{
    {"every second row, whatever the time", "tumbling 10, every 2",
     "+5=1 +5=10 0..10=11 +5=100 +5=1000 0..10=1111#1 +5=1 @end"},
    {"every second row, purging", "tumbling 10, every 2, purging",
     "+5=1 +5=10 0..10=11 +5=100 +5=1000 0..10=1100#1 +5=1 @end"},
    {"rows are counted per key", "tumbling 10, every 2",
     "+5=1 +2:5=10 +5=100 0..10=101 +2:5=1000 2:0..10=1010"},
    {"rows are counted per window", "tumbling 10, every 2",
     "+5=1 +15=10 +15=100 10..20=110 +6=1000 0..10=1001"},
    {"rows are counted in each window that overlaps", "sliding 10 5, every 2",
     "+7=1 +12=10 5..15=11 +3=100 0..10=101"},
    {"the count goes on behind the end, with lateness", "tumbling 10, every 2, late 5",
     "+5=1 @9 +5=10 0..10=11 +5=100 @14 +5=1 late=1"},
    {"and not without", "tumbling 10, every 2", "+5=1 @9 +5=10 late=10"},
    {"one row is enough for every first", "tumbling 10, every 1",
     "+5=1 0..10=1 +5=10 0..10=11#1 @end"},
    {"every third row of all", "global, every 3",
     "+5=1 +1000=10 +2000=100 all=111 +3000=1000 @end"},
    {"every third row of all, purging", "global, every 3, purging",
     "+5=1 +6=10 +7=100 all=111 +8=1000 +9=1 +9=1 all=1002#1 @end"},
    {"purging leaves the trigger's count", "sessions 10, every 2, purging",
     "+5=1 +6=10 5..16=11 +7=100 +8=1000 5..18=1100"},
    {"counts of sessions add up when they merge", "sessions 10, every 4",
     "+5=1 +25=10 +26=100 +15=1000 5..36=1111"},
    {"a merge alone fires nothing", "sessions 10, every 9", "+5=1 +25=10 +15=100 @end"},
    {"early, then on time, then late", "tumbling 10, early 2, late 5",
     "+5=1 +5=10 0..10=11 +5=100 @9 0..10=111#1 +5=1000 0..10=1111#2 @14 +5=1 late=1"},
    {"early and purging", "tumbling 10, early 2, late 5, purging",
     "+5=1 +5=10 0..10=11 +5=100 @9 0..10=100#1 +5=1000 0..10=1000#2"},
    {"nothing came since the early result: purged, the end lets nothing out",
     "tumbling 10, early 2, purging", "+5=1 +5=10 0..10=11 @9 @end"},
    {"not purged, the end repeats it", "tumbling 10, early 2", "+5=1 +5=10 0..10=11 @9 0..10=11#1"},
    {"an emptied window is cleaned up", "tumbling 10, early 1, purging",
     "+5=1 0..10=1 @9 +5=10 late=10"},
    {"early sessions", "sessions 10, early 2", "+5=1 +6=10 5..16=11 +7=100 @16 5..17=111"},
    {"early, of all", "global, early 2", "+5=1 +6=10 all=11 +7=100 @end all=111#1"},

    {"a row may fire", "tumbling 10, obedient", "+5=1 +5=2 0..10=3 +5=12 0..10=15#1 @end"},
    {"a row may purge", "tumbling 10, obedient", "+5=1 +5=3 +5=10 +5=12 0..10=22 @end"},
    {"a row may do both", "tumbling 10, obedient", "+5=1 +5=4 0..10=5 +5=12 0..10=12#1 @end"},
    {"a purged window without rows fires nothing", "tumbling 10, obedient", "+0=5 +0=3 @5 @end"},
    {"an alarm rings at its moment", "tumbling 10, obedient", "+1=5 @5 @6 0..10=5 @7"},
    {"and once", "tumbling 10, obedient, late 5", "+1=5 @6 0..10=5 @9 @14"},
    {"an alarm that is set again moves", "tumbling 10, obedient", "+0=5 +3=15 @7 @8 0..10=20 @end"},
    {"also to an earlier moment", "tumbling 10, obedient", "+3=5 +0=15 @5 0..10=20 @8 @end"},
    {"alarm and clean-up at one moment: it rings first", "tumbling 10, obedient, late 3",
     "+7=5 @12 0..10=5 +7=1 late=1"},
    {"alarm and clean-up at one watermark", "tumbling 10, obedient, late 3",
     "+6=5 @50 0..10=5 +7=1 late=1"},
    {"an alarm behind clean-up never rings", "tumbling 10, obedient, late 3", "+8=5 @13 @end"},
    {"an alarm at the last instant is the end, and no other call", "tumbling 10, obedient",
     "+5=6 @9 @end"},
    {"an alarm for now waits for the next watermark", "tumbling 10, obedient",
     "+5=7 @4 @5 0..10=7"},
    {"an alarm for a moment that has passed, too", "tumbling 10, obedient",
     "@7 +5=7 @8 0..10=7 @end"},
    {"alarms that set the next ring in order at one watermark", "tumbling 10, obedient",
     "+1=9 @end 0..10=9 0..10=9#1"},
    {"or one by one", "tumbling 10, obedient", "+1=9 @4 0..10=9 @6 @7 0..10=9#1 @8 @9 @end"},
    {"alarms of several windows of a key", "tumbling 10, obedient",
     "+11=5 +1=15 @6 0..10=15 @15 @16 10..20=5"},
    {"alarms of several keys", "tumbling 10, obedient", "+1=5 +2:2=5 @6 0..10=5 @7 2:0..10=5"},
    {"sessions that merge keep the earlier alarm", "sessions 10, obedient",
     "+30=5 +10=5 +20=1 @14 @15 10..40=11 @35"},
    {"alarms of the global window", "global, obedient", "+1=5 @6 all=5 +100=15 @104 @105 all=20#1"},
    {"an alarm by the wall clock", "tumbling 10, obedient", "!100 +5=8 !106 !107 0..10=8 !200"},
    {"it does not ring when the window is gone", "tumbling 10, obedient", "!100 +5=8 @9 !200"},
    {"a wall alarm of sessions that merged", "sessions 10, obedient",
     "!100 +5=8 !103 +25=18 +15=1 !107 5..35=27 !110"},

    {"a span by the wall clock after the first row", "global, wall 50",
     "!100 +5=1 !120 +6=10 !149 !150 all=11 !200 +7=100 !249 !250 all=111#1"},
    {"the same, purging: each row once", "global, wall 50, purging",
     "!100 +5=1 !150 all=1 +6=10 !200 all=10#1 +7=100 @end all=100#2"},
    {"what came out already does not at the end", "tumbling 10, wall 50",
     "!100 +5=1 !150 0..10=1 @9 @end"},
    {"what did not come out comes at the end", "tumbling 10, wall 50", "!100 +5=1 @9 0..10=1 !150"},
    {"and late rows at once", "tumbling 10, wall 50, late 5",
     "!100 +5=1 @9 0..10=1 +5=10 0..10=11#1 !500"},
    {"a clock that jumps rings once", "global, wall 50", "!100 +5=1 !1000000 all=1 !2000000"},
    {"a clock that jumps back waits", "global, wall 50", "!100 +5=1 !0 !149 !150 all=1"},
};

std::int64_t time_of(const std::string& text) {
  std::size_t used = 0;
  std::int64_t base = 0;
  if (text.starts_with("L")) {
    base = latest_event_time.ms;
    used = 1;
  } else if (text.starts_with("end")) {
    base = EventTime::max().ms;
    used = 3;
  }
  return used == text.size() ? base : base + std::stoll(text.substr(used));
}

/// Tells the story, and restores the operator before the step `restore_at` into other subtasks.
/// Returns what went wrong first; nothing: it came out as told.
std::string told(const WindowSpec& spec, const std::string& story, int restore_at,
                 int parallelism) {
  FakeWorld world;
  auto windows = window_operator(world, spec, 1);
  std::istringstream in(story);
  std::string word;
  std::string step = "(begin)";
  std::vector<std::string> expected;
  int steps = 0;
  const auto check = [&] {
    std::sort(expected.begin(), expected.end());
    const auto came = windows->taken();
    if (came == expected) return std::string();
    std::string text = "after " + step + ":";
    for (const auto& one : came) text += " " + one;
    text += "; expected:";
    for (const auto& one : expected) text += " " + one;
    return text;
  };
  while (in >> word) {
    const bool is_step = word[0] == '+' || word[0] == '@' || word[0] == '!';
    if (!is_step) {
      expected.push_back(word);
      continue;
    }
    if (auto wrong = check(); !wrong.empty()) return wrong;
    expected.clear();
    step = word;
    if (steps++ == restore_at) windows = windows->restored(parallelism);
    const std::string rest = word.substr(1);
    if (word[0] == '+') {
      const std::size_t colon = rest.find(':');
      const std::size_t equals = rest.find('=');
      const std::size_t from = colon == std::string::npos ? 0 : colon + 1;
      windows->row(time_of(rest.substr(from, equals - from)),
                   colon == std::string::npos ? 1 : std::stoll(rest),
                   std::stoll(rest.substr(equals + 1)));
    } else if (word[0] == '@') {
      windows->watermark({time_of(rest)});
    } else {
      windows->wall({time_of(rest)});
    }
  }
  return check();
}

void check_all(const std::vector<Situation>& situations) {
  for (const Situation& situation : situations) {
    CAPTURE(situation.name, situation.windows, situation.story);
    WindowSpec spec = window_spec(situation.windows);
    CHECK(told(spec, situation.story, -1, 1) == "");
    const auto steps =
        std::count_if(situation.story, situation.story + std::string_view(situation.story).size(),
                      [](char c) { return c == '+' || c == '@' || c == '!'; });
    for (int at = 0; at < steps; ++at) {
      CAPTURE(at);
      CHECK(told(spec, situation.story, at, 1 + at % 3) == "");
    }
    if (!spec.shares_panes()) continue;
    spec.merged = true;
    CHECK(told(spec, situation.story, -1, 1) == "");
    CHECK(told(spec, situation.story, static_cast<int>(steps) / 2, 2) == "");
    spec.by_key = true;
    CHECK(told(spec, situation.story, -1, 1) == "");
    CHECK(told(spec, situation.story, static_cast<int>(steps) / 2, 2) == "");
  }
}

}  // namespace

TEST_CASE("tumbling windows, in situations", "[runtime][window]") { check_all(tumbling_windows); }
TEST_CASE("late rows, in situations", "[runtime][window]") { check_all(late_rows); }
TEST_CASE("sliding windows, in situations", "[runtime][window]") { check_all(sliding_windows); }
TEST_CASE("merging windows, in situations", "[runtime][window]") { check_all(merging_windows); }
TEST_CASE("triggers of windows, in situations", "[runtime][window]") {
  check_all(triggers_of_windows);
}

TEST_CASE("there are many situations, and no two are called alike", "[runtime][window]") {
  std::vector<std::string> names;
  for (const auto* list :
       {&tumbling_windows, &late_rows, &sliding_windows, &merging_windows, &triggers_of_windows}) {
    for (const Situation& situation : *list) names.emplace_back(situation.name);
  }
  CHECK(names.size() >= 120);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}
