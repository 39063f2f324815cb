//! Faults planted in what a copy of a real stack does with files, compression and uploads.

use super::{Fault, Patch, fault};

tests! {
    a_file_without_an_etag,
    an_etag_that_stays_when_the_file_changes,
    a_client_that_has_the_file_and_gets_it_again,
    a_date_that_is_trusted_beside_another_etag,
    a_304_without_the_etag,
    a_file_that_is_kept,
    a_style_sheet_that_is_called_plain_text,
    a_part_that_is_served_whole,
    a_part_that_is_served_although_the_manifest_says_that_none_is,
    a_path_that_leads_out_of_the_folder,
    an_answer_that_is_not_compressed,
    an_answer_that_is_always_compressed,
    products_that_are_made_once,
    a_number_that_is_too_large,
    a_digest_of_the_beginning,
    a_body_that_is_too_long_for_the_server,
}

const STATIC: &str = "static.go";
const PRODUCTS: &str = "products.go";
const UPLOAD: &str = "upload.go";

const TAG: &str = "\tw.Header().Set(\"ETag\", fmt.Sprintf(`\"%x-%x\"`, info.ModTime().UnixNano(), info.Size()))\n";
const SERVE: &str = "\thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n";

/// A fault in how the stack serves a file.
fn static_fault(patches: &[(&'static str, &'static str)], rule: &[&'static str]) -> Fault {
    let patches: Vec<Patch> = patches.iter().map(|(a, b)| (STATIC, *a, *b)).collect();
    fault("static", &patches, rule)
}

fn a_file_without_an_etag() -> Fault {
    static_fault(
        &[(TAG, "\t_ = fmt.Sprint\n")],
        &["an answer with the file has an ETag: expected an ETag in quotes, got none"],
    )
}

fn an_etag_that_stays_when_the_file_changes() -> Fault {
    static_fault(
        &[(
            TAG,
            "\tw.Header().Set(\"ETag\", fmt.Sprintf(`\"%x\"`, len(info.Name())))\n",
        )],
        &["the file is read for each request", "got status 304"],
    )
}

fn a_client_that_has_the_file_and_gets_it_again() -> Fault {
    static_fault(
        &[(
            SERVE,
            "\tr.Header.Del(\"If-None-Match\")\n\thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n",
        )],
        &["a client that has the file gets 304", "got status 200"],
    )
}

fn a_date_that_is_trusted_beside_another_etag() -> Fault {
    static_fault(
        &[(
            SERVE,
            "\tif r.Header.Get(\"If-Modified-Since\") != \"\" {\n\t\tr.Header.Del(\"If-None-Match\")\n\t}\n\
             \thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n",
        )],
        &[
            "If-Modified-Since is ignored in a request that has If-None-Match",
            "got status 304",
        ],
    )
}

fn a_304_without_the_etag() -> Fault {
    static_fault(
        &[(
            SERVE,
            "\tif r.Header.Get(\"If-None-Match\") == w.Header().Get(\"ETag\") {\n\t\tw.Header().Del(\"ETag\")\n\
             \t\tw.WriteHeader(http.StatusNotModified)\n\t\treturn\n\t}\n\
             \thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n",
        )],
        &["a 304 has the file's ETag", "got none"],
    )
}

fn a_file_that_is_kept() -> Fault {
    static_fault(
        &[
            (
                "type staticFiles struct {",
                "var keptFile []byte\n\ntype staticFiles struct {",
            ),
            ("import (\n", "import (\n\t\"bytes\"\n\t\"io\"\n"),
            (
                SERVE,
                "\tif keptFile == nil {\n\t\tkeptFile, _ = io.ReadAll(file)\n\t}\n\
                 \thttp.ServeContent(w, r, info.Name(), info.ModTime(), bytes.NewReader(keptFile))\n",
            ),
        ],
        &["the file is read for each request (it was replaced after the answer before)"],
    )
}

fn a_style_sheet_that_is_called_plain_text() -> Fault {
    static_fault(
        &[(
            TAG,
            "\tw.Header().Set(\"Content-Type\", \"text/plain\")\n\
                 \tw.Header().Set(\"ETag\", fmt.Sprintf(`\"%x-%x\"`, info.ModTime().UnixNano(), info.Size()))\n",
        )],
        &["the content type is right: expected `text/css`, got `text/plain`"],
    )
}

fn a_part_that_is_served_whole() -> Fault {
    static_fault(
        &[(
            SERVE,
            "\tr.Header.Del(\"Range\")\n\thttp.ServeContent(w, r, info.Name(), info.ModTime(), file)\n",
        )],
        &[
            "a part of the file is served (a stack that cannot declares `ranges = false` under [http])",
            "got status 200",
        ],
    )
}

fn a_part_that_is_served_although_the_manifest_says_that_none_is() -> Fault {
    let declared = (
        "stack.toml",
        "pipelining = true",
        "pipelining = true\nranges = false",
    );
    let rule = [
        "without parts, the whole file is served, as its manifest declares",
        "got status 206",
    ];
    fault("static", &[declared], &rule)
}

fn a_path_that_leads_out_of_the_folder() -> Fault {
    static_fault(
        &[(
            "os.OpenInRoot(h.dir, r.PathValue(\"name\"))",
            "os.Open(h.dir + \"/\" + r.PathValue(\"name\"))",
        )],
        &[
            "a file outside the folder is not served",
            "expected status 301, 302, 307, 308, 400, 403 or 404, got status 200",
        ],
    )
}

fn an_answer_that_is_not_compressed() -> Fault {
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
    fault(
        "json-gzip",
        &[plain, unused],
        &[
            "an answer to a client that accepts gzip is compressed",
            "expected Content-Encoding: gzip, got no Content-Encoding",
        ],
    )
}

fn an_answer_that_is_always_compressed() -> Fault {
    let always = (
        PRODUCTS,
        "func listProducts(w http.ResponseWriter, r *http.Request) {\n",
        "func listProducts(w http.ResponseWriter, r *http.Request) {\n\
         \tif r.Header.Get(\"Accept-Encoding\") == \"\" {\n\t\tw.Header().Set(\"Content-Encoding\", \"gzip\")\n\t}\n",
    );
    let rule =
        ["without Accept-Encoding: an answer to a client that accepts no coding is not compressed"];
    fault("json-gzip", &[always], &rule)
}

fn products_that_are_made_once() -> Fault {
    let patches = [
        (
            PRODUCTS,
            "type product struct {",
            "var keptProducts []product\n\ntype product struct {",
        ),
        (
            PRODUCTS,
            "\trespondJSON(w, http.StatusOK, products)",
            "\tif keptProducts == nil {\n\t\tkeptProducts = products\n\t}\n\trespondJSON(w, http.StatusOK, keptProducts)",
        ),
    ];
    fault(
        "json-gzip",
        &patches,
        &[
            "GET /products?from=",
            "the answer is right",
            "compressed by gzip",
        ],
    )
}

fn a_number_that_is_too_large() -> Fault {
    let unlimited = (
        PRODUCTS,
        " || from > maxProductID {",
        " || from > 2*maxProductID {",
    );
    fault(
        "json-gzip",
        &[unlimited],
        &[
            "GET /products?from=1000001: a number that makes no sense is refused: expected status 400 or 422, got status 200",
        ],
    )
}

fn a_digest_of_the_beginning() -> Fault {
    let beginning = (
        UPLOAD,
        "http.MaxBytesReader(w, r.Body, maxUploadSize)",
        "io.LimitReader(http.MaxBytesReader(w, r.Body, maxUploadSize), 1<<20)",
    );
    fault(
        "upload",
        &[beginning],
        &["POST /upload: the answer is the digest of the body"],
    )
}

fn a_body_that_is_too_long_for_the_server() -> Fault {
    let short = (
        UPLOAD,
        "const maxUploadSize = 16 << 20",
        "const maxUploadSize = 1 << 20",
    );
    fault(
        "upload",
        &[short],
        &["POST /upload", "expected status 200, got status 413"],
    )
}
