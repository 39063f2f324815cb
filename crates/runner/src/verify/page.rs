//! Checks of fortunes: database rows and an added one, sorted, in a page from a template engine. The page is parsed as
//! a browser does it. Servers with predefined answers get a page that is written here.

use std::sync::Arc;

use deadheat_model::workload::Table;
use html5gum::{DefaultEmitter, Token, Tokenizer};
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;

use super::{Depth, Fault, Verifier};
use crate::services::postgres::RowChange;

/// A row of the page: id and message.
pub(super) type PageRow = (i32, String);

/// The shortest page with these rows.
pub(super) fn written(rows: &[PageRow]) -> String {
    let rows = rows.iter().map(|(id, message)| {
        let message = message
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        format!("<tr><td>{id}</td><td>{message}</td></tr>")
    });
    let rows: String = rows.collect();
    format!(
        "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table><tr><th>id</th><th>message</th></tr>\
         {rows}</table></body></html>"
    )
}

/// The difference between `body` and a page with `rows`: the expected and the received part in words. `None` if it is
/// right.
pub(super) fn difference(rows: &[PageRow], body: &[u8]) -> Option<(String, String)> {
    let page = match Page::read(body) {
        Ok(page) => page,
        Err(got) => return Some(("a page of HTML with one table".to_owned(), got)),
    };
    let expected = |what: &str, got: String| Some((what.to_owned(), got));
    if !page.has_doctype {
        return expected(
            "a page that begins with `<!DOCTYPE html>`",
            "one that does not".to_owned(),
        );
    }
    if page.title.as_deref() != Some("Fortunes") {
        let got = page
            .title
            .map_or("no title".to_owned(), |title| format!("`{title}`"));
        return expected("the title `Fortunes`", got);
    }
    if page.tables != 1 {
        return expected("one table", format!("{} tables", page.tables));
    }
    let header = ["id".to_owned(), "message".to_owned()];
    let right = rows
        .iter()
        .map(|(id, message)| [id.to_string(), message.clone()]);
    let right: Vec<[String; 2]> = std::iter::once(header).chain(right).collect();
    for (index, cells) in right.iter().enumerate() {
        let got = page.rows.get(index);
        if got.is_some_and(|got| got[..] == cells[..]) {
            continue;
        }
        let name = if index == 0 {
            "the header".to_owned()
        } else {
            format!("row {index} of {}", rows.len())
        };
        let got = got.map_or_else(|| "no such row".to_owned(), |got| in_cells(got));
        return Some((format!("{name} with {}", in_cells(cells)), got));
    }
    let more = page.rows.len() - right.len();
    (more > 0).then(|| {
        let expected = format!("{} rows below the header", rows.len());
        (expected, format!("{} rows", rows.len() + more))
    })
}

/// The cells in words: "the cells `1` and `a message`".
fn in_cells(cells: &[String]) -> String {
    match cells {
        [] => "no cells".to_owned(),
        cells => {
            let quoted: Vec<String> = cells.iter().map(|cell| format!("`{cell}`")).collect();
            format!("the cells {}", quoted.join(" and "))
        }
    }
}

/// The parts of a parsed page that are checked.
#[derive(Debug, Default)]
struct Page {
    has_doctype: bool,
    title: Option<String>,
    tables: usize,
    /// The texts of the cells of each row, with entities decoded.
    rows: Vec<Vec<String>>,
}

/// The element that contains the current text.
#[derive(Clone, Copy, PartialEq)]
enum TextContext {
    Title,
    Cell,
    Nothing,
}

impl Page {
    /// Parses a page token by token (<https://html.spec.whatwg.org/multipage/parsing.html#tokenization>).
    ///
    /// # Errors
    /// When the page is not UTF-8, is invalid HTML, or has markup in a cell, which may only contain text.
    fn read(body: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(body).map_err(|error| format!("no UTF-8: {error}"))?;
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut page = Self::default();
        let mut is_first = true;
        let mut in_table = false;
        let mut inside = TextContext::Nothing;
        for token in Tokenizer::new_with_emitter(text, emitter) {
            let Ok(token) = token;
            match token {
                Token::Doctype(doctype) => page.has_doctype = is_first && *doctype.name == b"html",
                Token::StartTag(tag) => match &tag.name[..] {
                    b"table" => {
                        page.tables += 1;
                        (in_table, inside) = (true, TextContext::Nothing);
                    }
                    b"tr" if in_table => {
                        page.rows.push(Vec::new());
                        inside = TextContext::Nothing;
                    }
                    b"td" | b"th" if in_table => {
                        let row = page.rows.last_mut().ok_or("a cell outside of a row")?;
                        row.push(String::new());
                        inside = TextContext::Cell;
                    }
                    b"title" => {
                        page.title = Some(String::new());
                        inside = TextContext::Title;
                    }
                    // The end tags of these, and of cells and rows, may be left out.
                    b"thead" | b"tbody" | b"tfoot" => inside = TextContext::Nothing,
                    name if inside == TextContext::Cell => {
                        let cell = page.rows.last().and_then(|row| row.last());
                        return Err(format!(
                            "markup in a cell, where all text must be escaped: `<{}>` after `{}`",
                            String::from_utf8_lossy(name),
                            cell.map_or("", String::as_str).trim_start()
                        ));
                    }
                    _ => {}
                },
                Token::EndTag(tag) => match &tag.name[..] {
                    b"table" => (in_table, inside) = (false, TextContext::Nothing),
                    b"td" | b"th" | b"tr" | b"thead" | b"tbody" | b"tfoot" | b"title" => {
                        inside = TextContext::Nothing;
                    }
                    _ => {}
                },
                Token::String(text) => {
                    let text = String::from_utf8_lossy(&text);
                    match inside {
                        TextContext::Title => page.title.get_or_insert_default().push_str(&text),
                        TextContext::Cell => {
                            let cell = page.rows.last_mut().and_then(|row| row.last_mut());
                            cell.ok_or("a cell outside of a row")?.push_str(&text);
                        }
                        TextContext::Nothing if text.trim().is_empty() => continue,
                        TextContext::Nothing => {}
                    }
                }
                Token::Comment(_) => continue,
                Token::Error(error) => return Err(format!("an error of HTML: {}", *error)),
            }
            is_first = false;
        }
        // White space at the ends is not shown.
        let texts = page.rows.iter_mut().flatten().chain(&mut page.title);
        texts.for_each(|text| *text = text.trim_ascii().to_owned());
        Ok(page)
    }
}

/// The row that each request adds: id and message, as in the workload of the same name of TechEmpower's Framework
/// Benchmarks (<https://github.com/TechEmpower/FrameworkBenchmarks/wiki/Project-Information-Framework-Tests-Overview>).
const ADDED: (i32, &str) = (0, "Additional fortune added at request time.");
/// A limit above the number of rows of the table.
const ALL: u32 = 1_000;
/// The id of a temporary row.
const PASSING: i32 = 900;

const ANY_NUMBER: &str =
    "each row of the table is a row of the page (one was added after the answer before)";

impl Verifier<'_> {
    /// The rows of a right answer, in order.
    pub(super) fn right_fortunes(&mut self) -> Result<Arc<[PageRow]>, Fault> {
        Ok(page_rows(self.rows(Table::Fortune, ALL)?))
    }

    pub(super) fn verify_fortunes(&mut self, depth: Depth) -> Result<(), Fault> {
        let counted = self.begin_count(depth)?;
        self.expect_right()?;
        let rows = self.rows(Table::Fortune, ALL)?;
        self.expect_changed(Table::Fortune, &rows, random_message)?;
        let mut requests = 2;
        if depth == Depth::Full {
            let message = random_message(&mut self.random);
            self.change_row(Table::Fortune, PASSING, RowChange::Add(&message))?;
            let shown = self.expect_right_by(ANY_NUMBER);
            self.change_row(Table::Fortune, PASSING, RowChange::Remove)?;
            shown?;
            requests += 1;
        }
        self.expect_right()?;
        self.end_count(counted, requests + 1)
    }
}

/// A random message, which changes the order of the page and contains characters to escape.
fn random_message(random: &mut ChaCha8Rng) -> String {
    let number = random.next_u32();
    let first = char::from(b'A' + (number % 26) as u8);
    format!("{first}{number:08x} <b>\"{number}\" & 'more'</b>")
}

/// The rows of the page for a table with `rows`: these and the added one, sorted by message in the order of code
/// points.
fn page_rows(mut rows: Vec<PageRow>) -> Arc<[PageRow]> {
    rows.push((ADDED.0, ADDED.1.to_owned()));
    rows.sort_by(|a, b| a.1.cmp(&b.1));
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the order of a right page.
    fn rows() -> Vec<PageRow> {
        let rows = [
            (2, "<script>x</script>"),
            (0, "Additional fortune added at request time."),
            (1, "b < c & d"),
            (3, "急がば回れ"),
        ];
        rows.map(|(id, text)| (id, text.to_owned())).to_vec()
    }

    #[test]
    fn a_page_may_be_written_in_many_ways() {
        let rows = rows();
        assert_eq!(difference(&rows, written(&rows).as_bytes()), None);
        let loose = "<!doctype html>\n<html lang=en>\n<head><meta charset='utf-8'>\n<title>Fortunes</title></head>\n\
        <body> <table>\n<thead><tr> <th>id</th> <th>message</th> </tr></thead>\n<tbody>\n\
        <tr><td>2<td>&#60;script&gt;x&lt;/script&#x3e;\n";
        let loose = loose.to_owned()
            + "</td></tr><tr><td>0</td><td>Additional fortune added at request time.</td></tr>\
           <tr><td>1</td><td>b &lt; c &amp; d</td></tr><!-- last -->\
           <tr><td class=id>3</td><td>&#24613;がば回れ</td></tr></tbody></table></body></html>";
        assert_eq!(difference(&rows, loose.as_bytes()), None);
        let short = "<!-- made --><!doctype html><title>\n Fortunes\n</title><table><tr><th>id<th>message<tbody>\n\
        <tr><td>\n2\n<td>\n&lt;script>x&lt;/script>\n<tr><td>0<td>Additional fortune added at request time.\n\
        <tr><td>1<td>b &lt; c &amp; d<tr><td>3<td>急がば回れ\n</tbody></table>\n";
        assert_eq!(difference(&rows, short.as_bytes()), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let rows = rows();
        let right = written(&rows);
        let swapped: Vec<PageRow> = rows.iter().rev().cloned().collect();
        for (wrong, expected, got) in [
            (
                right.replace("&lt;script&gt;", "<script>"),
                "one table",
                "markup in a cell, where all text must be escaped: `<script>` after ``",
            ),
            (
                right.replace("&amp;", "&amp;amp;"),
                "row 3 of 4 with the cells `1` and `b < c & d`",
                "`b < c &amp; d`",
            ),
            (
                written(&swapped),
                "row 1 of 4 with the cells `2` and",
                "`3` and `急がば回れ`",
            ),
            (written(&rows[..3]), "row 4 of 4", "no such row"),
            (
                right.replace("</table>", "<tr><td>9</td></tr></table>"),
                "4 rows below the header",
                "5 rows",
            ),
            (
                right.replace("<!DOCTYPE html>", "x<!DOCTYPE html>"),
                "<!DOCTYPE html>",
                "does not",
            ),
            (
                right.replace("<table>", "<table></table>"),
                "the header",
                "no such row",
            ),
            (
                right.replace("<!DOCTYPE html>", ""),
                "<!DOCTYPE html>",
                "does not",
            ),
            (
                right.replace("Fortunes", "fortunes"),
                "the title `Fortunes`",
                "`fortunes`",
            ),
            (
                right.replace("<th>id</th>", "<th>Id</th>"),
                "the header with the cells `id`",
                "`Id`",
            ),
            (
                right.replace("</table>", "</table><table></table>"),
                "one table",
                "2 tables",
            ),
            (
                right.replace("<tr>", ""),
                "one table",
                "a cell outside of a row",
            ),
            (String::new(), "<!DOCTYPE html>", "does not"),
        ] {
            let (was_expected, came) = difference(&rows, wrong.as_bytes()).expect(&wrong);
            assert!(was_expected.contains(expected), "{was_expected}");
            assert!(came.contains(got), "{came}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(body: Vec<u8>) {
            let _ = difference(&rows(), &body);
        }

        #[test]
        fn every_message_comes_back(messages in proptest::collection::vec("[!-~]([ -~À-ÿぁ-ん急🐎]*[!-~])?", 0..6)) {
            let rows: Vec<PageRow> =
                messages.into_iter().zip(1..).map(|(text, id)| (id, text)).collect();
            proptest::prop_assert_eq!(difference(&rows, written(&rows).as_bytes()), None);
        }
    }

    #[test]
    fn rows_are_sorted_by_message_with_the_one_that_is_added() {
        let rows = [(1, "b"), (2, "<script>"), (3, "急がば回れ")];
        let rows = page_rows(rows.map(|(id, text)| (id, text.to_owned())).to_vec());
        let ids: Vec<i32> = rows.iter().map(|row| row.0).collect();
        assert_eq!(ids, [2, 0, 1, 3]);
    }
}
