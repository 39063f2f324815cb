use clap::Parser;

use super::*;

#[derive(Parser)]
struct DataTestArgs {
    #[command(flatten)]
    data: DataArgs<TextOrJson>,
}

#[derive(Parser)]
struct FilesTestArgs {
    #[command(flatten)]
    files: FilesArgs<TextOrJson>,
}

fn sink(words: &[&str]) -> Result<Sink, String> {
    let parsed = DataTestArgs::try_parse_from(["x"].iter().chain(words)).unwrap();
    parsed.data.open().map_err(|error| error.to_string())
}

#[test]
fn the_format_is_what_is_asked_for_or_that_of_the_ending() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (text, json, other) = (path("a.txt"), path("a.JSON"), path("a.log"));
    let cases: [(&[&str], Format); 6] = [
        (&[], Format::Text),
        (&["--json"], Format::Json),
        (&["--format", "json"], Format::Json),
        (&["-o", &text], Format::Text),
        (&["-o", &json], Format::Json),
        (&["-o", &other, "--json"], Format::Json),
    ];
    for (words, expected) in cases {
        assert_eq!(sink(words).unwrap().format, expected, "{words:?}");
    }
    let error = sink(&["-o", &other]).unwrap_err();
    assert!(
        error.contains(".txt .json, or choose one with --format"),
        "{error}"
    );
    assert!(DataTestArgs::try_parse_from(["x", "--json", "--format", "text"]).is_err());
}

#[test]
fn a_file_takes_the_place_of_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.txt");
    let name = path.display().to_string();
    sink(&["-o", &name]).unwrap().write("text\n").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "text\n");
    let missing = folder.path().join("no/a.txt").display().to_string();
    assert!(
        sink(&["-o", &missing])
            .unwrap_err()
            .contains("opening it for writing")
    );
}

#[test]
fn files_of_a_measurement_have_the_format_of_their_ending() {
    let folder = tempfile::tempdir().unwrap();
    let [text, json] = ["a.txt", "a.json"].map(|name| folder.path().join(name));
    let names = [&text, &json].map(|path| path.display().to_string());
    let words = ["x", "-o", &names[0], "-o", &names[1]];
    let files = FilesTestArgs::try_parse_from(words).unwrap().files;
    assert_eq!(files.format(), Format::Text);
    files
        .open()
        .unwrap()
        .write(|format| Ok(format!("{format:?}").into_bytes()))
        .unwrap();
    assert_eq!(fs::read_to_string(&text).unwrap(), "Text");
    assert_eq!(fs::read_to_string(&json).unwrap(), "Json");
    // One that cannot be written does not hide another one.
    let files = FilesTestArgs::try_parse_from(words).unwrap().files.open();
    let failure = |format: Format| Err(CommandFailure::no_result(format!("no {format:?}")));
    let failed = files.unwrap().write(failure).unwrap_err();
    assert_eq!(failed.to_string(), "no Text\nno Json");
    let twice = ["x", "-o", &names[0], "-o", &names[0]];
    let twice = FilesTestArgs::try_parse_from(twice).unwrap().files.open();
    assert!(twice.unwrap_err().to_string().contains("twice"));
}

#[test]
fn the_record_of_a_session_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let [header, heats] = [HEADER_FILE, HEATS_FILE].map(|name| folder.path().join(name));
    fs::write(&header, "{}").unwrap();
    let name = header.display().to_string();
    // Without heats it is any file of that name.
    assert!(sink(&["-o", &name]).is_ok());
    fs::write(&heats, "").unwrap();
    let error = sink(&["-o", &name]).unwrap_err();
    assert!(error.contains("part of a session's record"), "{error}");
    let name = heats.display().to_string();
    assert!(sink(&["-o", &name, "--json"]).is_err());
    assert_eq!(fs::read_to_string(&header).unwrap(), "{}");
}
