//! The doubts of the import about single runs, as findings about places.

use deadheat_model::warning::Level;

/// A doubt of the import about a run, as a finding about places.
pub(super) struct ImportedDoubt {
    pub(super) id: &'static str,
    pub(super) level: Level,
    /// Whether the place has no rank because of it.
    pub(super) is_against: bool,
    /// The fact about the places, and its meaning.
    pub(super) sentence: [&'static str; 2],
}

/// Those that a reader of an audit needs.
pub(super) const IMPORTED: [ImportedDoubt; 9] = [
    ImportedDoubt {
        id: "short",
        level: Level::Doubt,
        is_against: true,
        sentence: [
            "were measured for less than 1 s",
            "a longer run could have another rate",
        ],
    },
    ImportedDoubt {
        id: "one-cpu",
        level: Level::Doubt,
        is_against: true,
        sentence: [
            "have a rate that may be the limit of the generator's one CPU",
            "faster servers would seem equal",
        ],
    },
    ImportedDoubt {
        id: "stopped",
        level: Level::Doubt,
        is_against: true,
        sentence: [
            "have a run that stopped early",
            "the rate covers the requests before that",
        ],
    },
    ImportedDoubt {
        id: "few-requests",
        level: Level::Doubt,
        is_against: false,
        sentence: [
            "had fewer than ten requests on each connection",
            "starting and ending are much of such a run",
        ],
    },
    ImportedDoubt {
        id: "rate-not-reached",
        level: Level::Doubt,
        is_against: false,
        sentence: [
            "answered fewer requests than were asked for",
            "their times grow with the length of the run",
        ],
    },
    ImportedDoubt {
        id: "late-answers",
        level: Level::Doubt,
        is_against: false,
        sentence: [
            "had waits beyond the generator's timeout",
            "their times do not include these",
        ],
    },
    ImportedDoubt {
        id: "lengths",
        level: Level::Doubt,
        is_against: false,
        sentence: [
            "had answers that were not as long as the first, or never came",
            "harmless only if the content varies",
        ],
    },
    ImportedDoubt {
        id: "other-command",
        level: Level::Doubt,
        is_against: false,
        sentence: [
            "have a command of another run",
            "how they were loaded is not known",
        ],
    },
    ImportedDoubt {
        id: "doubted-times",
        level: Level::Note,
        is_against: false,
        sentence: [
            "have times that ab itself doubts",
            "their mean and median differ too much",
        ],
    },
];
