//! Documents as they are kept in snapshots: what comes in numbers is there as its first examples, and what draws plots
//! not at all.

/// JSON over several lines, with the first two elements of each list.
pub fn json(document: &str) -> String {
    let mut kept = String::new();
    // The depth of each list that is open, and how many of its elements have begun.
    let mut lists: Vec<(usize, usize)> = Vec::new();
    for line in document.lines() {
        let text = line.trim_start();
        let depth = line.len() - text.len();
        let closes = text.starts_with([']', '}']);
        if closes && text.starts_with(']') && lists.last().is_some_and(|list| list.0 == depth) {
            let (depth, elements) = lists.pop().unwrap();
            if lists.iter().all(|list| list.1 <= 2) && elements > 2 {
                let more = format!("{}… {} more", " ".repeat(depth + 2), elements - 2);
                kept += &format!("{more}\n");
            }
        } else if !closes
            && let Some(list) = lists.last_mut()
            && list.0 + 2 == depth
        {
            list.1 += 1;
        }
        if lists.iter().all(|list| list.1 <= 2) {
            kept += &format!("{line}\n");
        }
        if text.ends_with('[') {
            lists.push((depth, 0));
        }
    }
    kept
}

/// A page without its style sheet, its scripts and what they draw, with the first two rows of each table.
pub fn html(page: &str) -> String {
    let page = emptied(page, "<style>", "</style>");
    let page = emptied(&page, "<script", "</script>");
    let page = emptied(&page, "<div class=\"plot\"", "</div>");
    let mut kept = String::new();
    let mut rows = 0;
    for line in page.lines() {
        match line {
            "<tbody>" => rows = 0,
            "</tbody>" if rows > 2 => {
                kept += &format!("… {} more rows\n", rows - 2);
                rows = 0;
            }
            "</tbody>" => rows = 0,
            _ => rows += usize::from(line.starts_with("<tr")),
        }
        if rows <= 2 && !line.is_empty() {
            kept += &format!("{line}\n");
        }
    }
    kept
}

/// The text with nothing between one mark and the next other one.
fn emptied(text: &str, from: &str, to: &str) -> String {
    let mut pieces = text.split(from);
    let mut kept = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (_, after) = piece.split_once(to).expect("an end");
        kept += &format!("{from}…{to}{after}");
    }
    kept
}
