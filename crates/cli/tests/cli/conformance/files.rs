//! Faults planted in what a copy of a real stack does with files, compression and uploads.

use super::{Patch, assert_found};

const STATIC: &str = "static.go";
const PRODUCTS: &str = "products.go";
const UPLOAD: &str = "upload.go";

const TAG: &str = "\tw.Header().Set(\"ETag\", fmt.Sprintf(`\"%x-%x\"`, info.ModTime().UnixNano(), info.Size()))\n";
const SERVE: &str = "\thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n";

/// Asserts that the check for static finds these faults in how the stack serves a file.
#[track_caller]
fn assert_static_fault_found(patches: &[(&'static str, &'static str)], rule: &[&str]) {
    let patches: Vec<Patch> = patches.iter().map(|(a, b)| (STATIC, *a, *b)).collect();
    assert_found(&patches, "static", rule);
}

#[test]
fn a_file_without_an_etag() {
    assert_static_fault_found(
        &[(TAG, "\t_ = fmt.Sprint\n")],
        &["an answer with the file has an ETag: expected an ETag in quotes, got none"],
    );
}

#[test]
fn an_etag_that_stays_when_the_file_changes() {
    assert_static_fault_found(
        &[(
            TAG,
            "\tw.Header().Set(\"ETag\", fmt.Sprintf(`\"%x\"`, len(info.Name())))\n",
        )],
        &["the file is read for each request", "got status 304"],
    );
}

#[test]
fn a_client_that_has_the_file_and_gets_it_again() {
    assert_static_fault_found(
        &[(
            SERVE,
            "\tr.Header.Del(\"If-None-Match\")\n\thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n",
        )],
        &["a client that has the file gets 304", "got status 200"],
    );
}

#[test]
fn a_date_that_is_trusted_beside_another_etag() {
    assert_static_fault_found(
        &[(
            SERVE,
            "\tif r.Header.Get(\"If-Modified-Since\") != \"\" {\n\t\tr.Header.Del(\"If-None-Match\")\n\t}\n\
             \thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n",
        )],
        &[
            "If-Modified-Since is ignored in a request that has If-None-Match",
            "got status 304",
        ],
    );
}

#[test]
fn a_304_without_the_etag() {
    assert_static_fault_found(
        &[(
            SERVE,
            "\tif r.Header.Get(\"If-None-Match\") == w.Header().Get(\"ETag\") {\n\t\tw.Header().Del(\"ETag\")\n\
             \t\tw.WriteHeader(http.StatusNotModified)\n\t\treturn\n\t}\n\
             \thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n",
        )],
        &["a 304 has the file's ETag", "got none"],
    );
}

#[test]
fn a_file_that_is_kept() {
    assert_static_fault_found(
        &[
            (
                "type staticFiles struct {",
                "var kept []byte\n\ntype staticFiles struct {",
            ),
            ("import (\n", "import (\n\t\"bytes\"\n\t\"io\"\n"),
            (
                SERVE,
                "\tif kept == nil {\n\t\tkept, _ = io.ReadAll(file)\n\t}\n\
                 \thttp.ServeContent(w, r, info.Name(), info.ModTime(), bytes.NewReader(kept))\n",
            ),
        ],
        &["the file is read for each request (it was replaced after the answer before)"],
    );
}

#[test]
fn a_style_sheet_that_is_called_plain_text() {
    assert_static_fault_found(
        &[(
            TAG,
            "\tw.Header().Set(\"Content-Type\", \"text/plain\")\n\
                 \tw.Header().Set(\"ETag\", fmt.Sprintf(`\"%x-%x\"`, info.ModTime().UnixNano(), info.Size()))\n",
        )],
        &["the content type is right: expected `text/css`, got `text/plain`"],
    );
}

#[test]
fn a_part_that_is_served_whole() {
    let whole = (
        SERVE,
        "\tr.Header.Del(\"Range\")\n\thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n",
    );
    assert_static_fault_found(
        &[whole],
        &[
            "a part of the file is served (a stack that cannot declares `ranges = false` under [http])",
            "got status 200",
        ],
    );
    let declared = (
        "stack.toml",
        "pipelining = true",
        "pipelining = true\nranges = false",
    );
    assert_found(
        &[declared],
        "static",
        &[
            "without parts, the whole file is served, as its manifest declares",
            "got status 206",
        ],
    );
}

#[test]
fn a_path_that_leads_out_of_the_folder() {
    assert_static_fault_found(
        &[(
            "os.OpenInRoot(h.dir, r.PathValue(\"name\"))",
            "os.Open(h.dir + \"/\" + r.PathValue(\"name\"))",
        )],
        &[
            "a file outside the folder is not served",
            "expected status 301, 302, 307, 308, 400, 403 or 404, got status 200",
        ],
    );
}

#[test]
fn an_answer_that_is_not_compressed() {
    let plain = (
        "routes.go",
        "gzhttp.GzipHandler(http.HandlerFunc(listProducts))",
        "http.HandlerFunc(listProducts)",
    );
    let unused = (
        "routes.go",
        "\n\n\t\"github.com/klauspost/compress/gzhttp\"\n",
        "\n",
    );
    assert_found(
        &[plain, unused],
        "json-gzip",
        &[
            "an answer to a client that accepts gzip is compressed",
            "expected Content-Encoding: gzip, got no Content-Encoding",
        ],
    );
}

#[test]
fn an_answer_that_is_always_compressed() {
    let always = (
        PRODUCTS,
        "func listProducts(w http.ResponseWriter, r *http.Request) {\n",
        "func listProducts(w http.ResponseWriter, r *http.Request) {\n\
         \tif r.Header.Get(\"Accept-Encoding\") == \"\" {\n\t\tw.Header().Set(\"Content-Encoding\", \"gzip\")\n\t}\n",
    );
    let rule =
        ["without Accept-Encoding: an answer to a client that accepts no coding is not compressed"];
    assert_found(&[always], "json-gzip", &rule);
}

#[test]
fn products_that_are_made_once() {
    let patches = [
        (
            PRODUCTS,
            "type product struct {",
            "var kept []product\n\ntype product struct {",
        ),
        (
            PRODUCTS,
            "\trespondJSON(w, http.StatusOK, products)",
            "\tif kept == nil {\n\t\tkept = products\n\t}\n\trespondJSON(w, http.StatusOK, kept)",
        ),
    ];
    assert_found(
        &patches,
        "json-gzip",
        &[
            "GET /products?from=",
            "the answer is right",
            "compressed by gzip",
        ],
    );
}

#[test]
fn a_number_that_is_too_large() {
    let unlimited = (
        PRODUCTS,
        " || from > maxProductID {",
        " || from > 2*maxProductID {",
    );
    assert_found(
        &[unlimited],
        "json-gzip",
        &[
            "GET /products?from=1000001: a number that makes no sense is refused: expected status 400 or 422, got status 200",
        ],
    );
}

#[test]
fn a_digest_of_the_beginning() {
    let beginning = (
        UPLOAD,
        "http.MaxBytesReader(w, r.Body, maxUploadSize)",
        "io.LimitReader(http.MaxBytesReader(w, r.Body, maxUploadSize), 1<<20)",
    );
    assert_found(
        &[beginning],
        "upload",
        &["POST /upload: the answer is the digest of the body"],
    );
}

#[test]
fn a_body_that_is_too_long_for_the_server() {
    let short = (
        UPLOAD,
        "const maxUploadSize = 16 << 20",
        "const maxUploadSize = 1 << 20",
    );
    assert_found(
        &[short],
        "upload",
        &["POST /upload", "expected status 200, got status 413"],
    );
}
