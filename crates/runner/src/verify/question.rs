//! A probe: a request and its expected answer.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use deadheat_model::{
    figure::list_with,
    load::{Content, RequestSpec},
};

use super::{
    Fault,
    fault::{described, shown},
    page::{self, PageRow},
    wire::WholeAnswer,
};

/// A request of a probe and its expected answer.
#[derive(Clone, Debug)]
pub(super) struct ProbeRequest {
    pub(super) request: RequestSpec,
    pub(super) wanted: ExpectedAnswer,
}

/// The expected answer.
#[derive(Clone, Debug)]
pub(super) enum ExpectedAnswer {
    /// Any answer with one of these statuses.
    Status(&'static [u16]),
    /// Status 200 with this body. The content type must begin with `content_type`.
    Right {
        content_type: String,
        body: ExpectedBody,
    },
}

/// The expected body.
#[derive(Clone, Debug)]
pub(super) enum ExpectedBody {
    Content(Content),
    /// A page with these rows.
    Fortunes(Arc<[PageRow]>),
}

impl From<Arc<[PageRow]>> for ExpectedBody {
    fn from(rows: Arc<[PageRow]>) -> Self {
        Self::Fortunes(rows)
    }
}

impl From<Content> for ExpectedBody {
    fn from(content: Content) -> Self {
        Self::Content(content)
    }
}

impl ExpectedBody {
    /// The expected and the received body in words; `None` if `body` is right.
    fn difference(&self, body: &[u8]) -> Option<(String, String)> {
        match self {
            Self::Content(content) => {
                let is_wrong = !content.matches(body);
                is_wrong.then(|| (described(content), shown(body)))
            }
            Self::Fortunes(rows) => page::difference(rows, body),
        }
    }
}

impl ProbeRequest {
    /// The request in words: "POST /json", "GET /products?from=7 with Accept-Encoding: gzip".
    pub(super) fn name(&self) -> String {
        let RequestSpec {
            method,
            path,
            headers,
            ..
        } = &self.request;
        // The content type of a request body follows from the path.
        let told = headers.iter().filter(|(name, _)| name != "Content-Type");
        let told = told.map(|(name, value)| format!(" with {name}: {value}"));
        format!("{method} {path}{}", told.collect::<String>())
    }

    /// Checks that `answer` is right and has the headers of a stack. `asked` describes the request in messages. The
    /// server's clock may be behind by `late`.
    pub(super) fn judge_of_stack(
        &self,
        asked: &str,
        rule: &'static str,
        answer: &WholeAnswer,
        late: Duration,
    ) -> Result<(), Fault> {
        self.judge(asked, rule, answer)?;
        judge_date(asked, answer, late)
    }

    /// Checks that `answer` is right.
    pub(super) fn judge(
        &self,
        asked: &str,
        rule: &'static str,
        answer: &WholeAnswer,
    ) -> Result<(), Fault> {
        let statuses = match &self.wanted {
            ExpectedAnswer::Status(statuses) => statuses,
            ExpectedAnswer::Right { .. } => &[200][..],
        };
        if !statuses.contains(&answer.status) {
            return Err(Fault::new(
                asked.to_owned(),
                rule,
                format!("status {}", list_with("or", statuses)),
                format!("status {} with {}", answer.status, shown(&answer.body)),
            ));
        }
        let ExpectedAnswer::Right { content_type, body } = &self.wanted else {
            return Ok(());
        };
        Self::judge_body(asked, rule, content_type, body, answer)
    }

    /// Checks that the body of `answer` is right, and that its content type begins with `content_type`.
    pub(super) fn judge_body(
        asked: &str,
        rule: &'static str,
        content_type: &str,
        body: &ExpectedBody,
        answer: &WholeAnswer,
    ) -> Result<(), Fault> {
        if !plain(answer.content_type()).starts_with(&plain(content_type)) {
            return Err(Fault::new(
                asked.to_owned(),
                "the content type is right",
                format!("`{content_type}`"),
                format!("`{}`", answer.content_type()),
            ));
        }
        match body.difference(&answer.body) {
            Some((expected, got)) => Err(Fault::new(asked.to_owned(), rule, expected, got)),
            None => Ok(()),
        }
    }
}

/// Normalises a content type: removes whitespace and quotes, and converts to lowercase (RFC 9110, section 8.3.1).
fn plain(content_type: &str) -> String {
    let mut plain = content_type.to_ascii_lowercase();
    plain.retain(|c| !c.is_ascii_whitespace() && c != '"');
    plain
}

/// The maximum deviation of a server's clock. Some servers read it once per second.
pub(super) const LATE: Duration = Duration::from_secs(60);
/// The maximum delay of a server's clock in a heat, in which the server may have been frozen for minutes.
pub(super) const LATE_IN_HEATS: Duration = Duration::from_secs(3_600);

/// The time of a Date header. The first days of a month may have one digit, as in RFC 1123 (section 5.2.14): RFC 9110 asks for
/// two, but Java's `RFC_1123_DATE_TIME` writes one.
fn time_of(date: &str) -> Option<SystemTime> {
    let parse = |date: &str| httpdate::parse_http_date(date).ok();
    let with_two_digits = || {
        let (weekday, rest) = date.split_once(", ")?;
        parse(&format!("{weekday}, 0{rest}"))
    };
    parse(date).or_else(with_two_digits)
}

/// Checks that `answer` has a current Date header, as a server with a clock must send (RFC 9110, section 6.6.1).
fn judge_date(asked: &str, answer: &WholeAnswer, late: Duration) -> Result<(), Fault> {
    let date = answer.header("date");
    let parsed = date.and_then(time_of);
    let now = SystemTime::now();
    let is_now = |date: &SystemTime| *date + late > now && *date < now + LATE;
    if parsed.as_ref().is_some_and(is_now) {
        return Ok(());
    }
    let now = httpdate::fmt_http_date(now);
    Err(Fault::new(
        asked.to_owned(),
        "every answer has a Date header",
        format!("`{now}`, within {} min", late.as_secs() / 60),
        date.map_or_else(|| "none".to_owned(), |date| format!("`{date}`")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_out_of_a_list_will_do_and_another_is_told_with_the_list() {
        let question = ProbeRequest {
            request: RequestSpec::get("/x"),
            wanted: ExpectedAnswer::Status(&[404, 405, 501]),
        };
        let answer = |status| WholeAnswer {
            status,
            headers: Vec::new(),
            body: Vec::new(),
        };
        assert_eq!(question.judge("x", "a rule", &answer(405)), Ok(()));
        let fault = question.judge("x", "a rule", &answer(200)).unwrap_err();
        assert_eq!(
            fault.to_string(),
            "x: a rule: expected status 404, 405 or 501, got status 200 with an empty body"
        );
    }

    #[test]
    fn the_day_of_a_date_may_have_one_digit() {
        let first = time_of("Tue, 01 Dec 2026 00:04:26 GMT");
        assert!(first.is_some());
        assert_eq!(time_of("Tue, 1 Dec 2026 00:04:26 GMT"), first);
        for wrong in [
            "Tue, 001 Dec 2026 00:04:26 GMT",
            "1 Dec 2026 00:04:26 GMT",
            "Tue, ",
        ] {
            assert_eq!(time_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_answer_says_when_it_was_made() {
        let dated = |date: Option<&str>| WholeAnswer {
            status: 404,
            headers: date
                .map(|date| ("date".to_owned(), date.to_owned()))
                .into_iter()
                .collect(),
            body: Vec::new(),
        };
        let question = ProbeRequest {
            request: RequestSpec::get("/x"),
            wanted: ExpectedAnswer::Status(&[404]),
        };
        let judge_at = |date, late| question.judge_of_stack("x", "a rule", &dated(date), late);
        let judge = |date| judge_at(date, LATE);
        let ago =
            |seconds| httpdate::fmt_http_date(SystemTime::now() - Duration::from_secs(seconds));
        let recent = ago(5);
        assert_eq!(judge(Some(&recent)), Ok(()));
        let old = ago(90);
        for wrong in [None, Some("now"), Some(&*old)] {
            let fault = judge(wrong).unwrap_err().to_string();
            assert!(fault.contains("Date header"), "{fault}");
        }
        // A server that was frozen may have cached the time from before that.
        assert_eq!(judge_at(Some(&old), LATE_IN_HEATS), Ok(()));
        assert!(judge_at(None, LATE_IN_HEATS).is_err());
    }
}
