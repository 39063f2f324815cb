//! The bodies that `deadheat load` sends.

use crate::load::{Loading, hello_server, json, url};

/// The parts of a form: the head and the content of each.
fn parts(body: &[u8], boundary: &str) -> Vec<(String, String)> {
    let text = String::from_utf8(body.to_vec()).unwrap();
    let text = text
        .strip_suffix(&format!("\r\n--{boundary}--\r\n"))
        .unwrap();
    let text = format!("\r\n{text}");
    let between = format!("\r\n--{boundary}\r\n");
    let parts = text.split(&between).skip(1);
    let part = |part: &str| {
        let (head, content) = part.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), content.to_owned())
    };
    parts.map(part).collect()
}

#[test]
fn bodies_of_files_are_taken_in_turn() {
    let loading = Loading::new();
    for name in ["one", "two", "three"] {
        loading.root.write(name, name);
    }
    let server = hello_server();
    let files = [
        "--body-file",
        "one",
        "--body-file",
        "two",
        "--body-file",
        "three",
    ];
    let args = [&["-n", "7", "-c", "1", "-X", "PUT"][..], &files].concat();
    loading.run(&url(&server, "/"), &args).exits(0);
    let seen = server.seen_at_rest().first;
    let bodies: Vec<&[u8]> = seen.iter().map(|request| &request.body[..]).collect();
    let expected = ["one", "two", "three", "one", "two", "three", "one"];
    assert_eq!(bodies, expected.map(str::as_bytes));
    assert!(seen.iter().all(|request| request.method == "PUT"));
}

#[test]
fn a_line_of_urls_has_a_body_of_its_own() {
    let loading = Loading::new();
    let lines = "/a @ann.json\nPUT /b\nGET /c\nDELETE /d @bo.json\n";
    loading.root.write("lists/urls", lines);
    loading.root.write("lists/ann.json", "ann");
    loading.root.write("lists/bo.json", "bo");
    let server = hello_server();
    let args = [
        "-n",
        "4",
        "-c",
        "1",
        "--urls",
        "lists/urls",
        "-b",
        "other",
        "--json",
    ];
    let ended = loading.run(&url(&server, ""), &args).exits(0);
    let groups = &json(&ended)["observation"]["groups"];
    assert_eq!(groups.as_array().map(Vec::len), Some(4), "{ended}");
    let seen = server.seen_at_rest().first;
    let seen: Vec<(&str, &str, &[u8])> = seen
        .iter()
        .map(|request| (&*request.method, &*request.path, &request.body[..]))
        .collect();
    let expected = [
        ("POST", "/a", &b"ann"[..]),
        ("PUT", "/b", b"other"),
        ("GET", "/c", b""),
        ("DELETE", "/d", b"bo"),
    ];
    assert_eq!(seen, expected);
    loading.root.write("lists/urls", "/a @cy.json\n");
    let ended = loading.run(&url(&server, ""), &args).exits(2);
    assert!(ended.stderr.contains("@lists/cy.json"), "{ended}");
    loading.root.write("lists/urls", "/a\n");
    let args = ["--urls", "lists/urls", "--chunked"];
    let ended = loading.run(&url(&server, ""), &args).exits(2);
    assert!(ended.stderr.contains("no request has a body"), "{ended}");
}

#[test]
fn a_form_is_sent_as_multipart() {
    let loading = Loading::new();
    loading.root.write("photo.png", "not really\r\n--one");
    let server = hello_server();
    let args = [
        "-n",
        "2",
        "-c",
        "1",
        "--form",
        "name=Ann & Bo",
        "--form",
        "photo=@photo.png;filename=me.png",
        "--form",
        r#"data={"n":{{counter}}};type=application/json"#,
        "--template",
    ];
    loading.run(&url(&server, "/"), &args).exits(0);
    let seen = server.seen_at_rest().first;
    for (number, request) in seen.iter().enumerate() {
        assert_eq!(request.method, "POST");
        let content_type = request.header("content-type").unwrap();
        let (kind, boundary) = content_type.split_once("; boundary=").unwrap();
        assert_eq!(kind, "multipart/form-data");
        let parts = parts(&request.body, boundary);
        let contents: Vec<&str> = parts.iter().map(|(_, content)| content.as_str()).collect();
        let data = format!("{{\"n\":{number}}}");
        assert_eq!(contents, ["Ann & Bo", "not really\r\n--one", &data]);
        assert!(parts[1].0.contains("name=\"photo\"; filename=\"me.png\""));
        assert!(parts[1].0.contains("Content-Type: image/png"));
        assert!(parts[2].0.contains("Content-Type: application/json"));
    }
    assert_eq!(seen.len(), 2);
}
