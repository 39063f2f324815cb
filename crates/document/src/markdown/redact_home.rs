//! Replaces home folders by `~`, so that a committed report does not reveal whose machine it came from.

/// The text with `~` for the folder below `/home` or `/Users`, and for `/root`, wherever a path begins with it.
pub fn without_homes(text: &str) -> String {
    let mut rest = text;
    let mut written = String::with_capacity(text.len());
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        written.push_str(before);
        let starts = !written.ends_with(|end: char| end.is_alphanumeric() || "_.-~/".contains(end));
        let home = if starts { home(path) } else { None };
        match home {
            Some(length) => {
                written.push('~');
                rest = &path[length..];
            }
            None => {
                written.push('/');
                rest = &path[1..];
            }
        }
    }
    written + rest
}

/// The length of the home folder that a path begins with.
fn home(path: &str) -> Option<usize> {
    let is_end = |c: char| c == '/' || !(c.is_alphanumeric() || "_.-\\".contains(c));
    let end = |text: &str| text.find(is_end).unwrap_or(text.len());
    for below in ["/home/", "/Users/"] {
        if let Some(name) = path.strip_prefix(below) {
            let length = end(name);
            return (length > 0).then_some(below.len() + length);
        }
    }
    let rest = path.strip_prefix("/root")?;
    (end(rest) == 0).then_some("/root".len())
}

#[cfg(test)]
mod tests {
    use super::without_homes;

    #[test]
    fn only_what_is_a_home_folder_goes() {
        let cases = [
            ("in /home/jo.ex-1/src/a.rs:3", "in ~/src/a.rs:3"),
            ("\"/root/.cargo/bin\", /root", "\"~/.cargo/bin\", ~"),
            ("PATH=/Users/Jo/bin:/usr/bin", "PATH=~/bin:/usr/bin"),
            ("/home/größe/x", "~/x"),
            (
                "/rooted/x and /home/ and /homework",
                "/rooted/x and /home/ and /homework",
            ),
            (
                "http://host/home/page, src/root/x",
                "http://host/home/page, src/root/x",
            ),
            ("1/2, /", "1/2, /"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_homes(text), expected);
        }
    }
}
