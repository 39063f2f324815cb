//! A question: a request, and what its answer must be.

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
    page::{self, Row},
    wire::WholeAnswer,
};

/// A request, and what its answer must be.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) request: RequestSpec,
    pub(super) wanted: ExpectedAnswer,
}

/// What an answer must be.
#[derive(Clone, Debug)]
pub(super) enum ExpectedAnswer {
    /// Of one of these statuses, whatever comes with it.
    Status(&'static [u16]),
    /// 200, with this body under a content type that begins so.
    Right {
        content_type: String,
        body: ExpectedBody,
    },
}

/// What a body must be.
#[derive(Clone, Debug)]
pub(super) enum ExpectedBody {
    Content(Content),
    /// A page with these rows.
    Fortunes(Arc<[Row]>),
}

impl From<Arc<[Row]>> for ExpectedBody {
    fn from(rows: Arc<[Row]>) -> Self {
        Self::Fortunes(rows)
    }
}

impl From<Content> for ExpectedBody {
    fn from(content: Content) -> Self {
        Self::Content(content)
    }
}

impl ExpectedBody {
    /// What was expected and what came, if `body` is wrong.
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

impl Question {
    /// "POST /json", "GET /products?from=7 with Accept-Encoding: gzip".
    pub(super) fn name(&self) -> String {
        let RequestSpec {
            method,
            path,
            headers,
            ..
        } = &self.request;
        // That of a body says nothing which the path does not.
        let told = headers.iter().filter(|(name, _)| name != "Content-Type");
        let told = told.map(|(name, value)| format!(" with {name}: {value}"));
        format!("{method} {path}{}", told.collect::<String>())
    }

    /// Whether `answer` is a stack's, and right; `asked` says in a message how it was asked. The server's clock may be behind by
    /// `late`.
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

    /// Whether `answer` is right.
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

    /// Whether the body of `answer` is right, and its content type begins so.
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

/// A content type without what has no meaning in it: capitals, blanks, quotes (RFC 9110, section 8.3.1).
fn plain(content_type: &str) -> String {
    let mut plain = content_type.to_ascii_lowercase();
    plain.retain(|c| !c.is_ascii_whitespace() && c != '"');
    plain
}

/// How far a server's clock may be behind, or ahead: some read it once a second.
pub(super) const LATE: Duration = Duration::from_secs(60);
/// How far it may be behind in a heat, where the server may have been frozen for minutes, and its clock stood still.
pub(super) const LATE_IN_HEATS: Duration = Duration::from_secs(3_600);

/// Whether `answer` says when it was made, as a server with a clock must (RFC 9110, section 6.6.1).
fn judge_date(asked: &str, answer: &WholeAnswer, late: Duration) -> Result<(), Fault> {
    let date = answer.header("date");
    let parsed = date.and_then(|date| httpdate::parse_http_date(date).ok());
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
        let question = Question {
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
    fn an_answer_says_when_it_was_made() {
        let dated = |date: Option<&str>| WholeAnswer {
            status: 404,
            headers: date
                .map(|date| ("date".to_owned(), date.to_owned()))
                .into_iter()
                .collect(),
            body: Vec::new(),
        };
        let question = Question {
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
        // A server that was frozen may have noted the time before that.
        assert_eq!(judge_at(Some(&old), LATE_IN_HEATS), Ok(()));
        assert!(judge_at(None, LATE_IN_HEATS).is_err());
    }
}
