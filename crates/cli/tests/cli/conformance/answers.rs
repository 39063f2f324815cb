//! Faults in what a copy of the stack answers without a table: a greeting, a digest, a payload, a relayed text.

use super::{Fault, fault};

tests! {
    constant_names_in_json_decode,
    a_cached_blob_in_hash,
    a_payload_that_is_one_byte_short,
    a_response_that_is_kept_in_proxy,
}

fn constant_names_in_json_decode() -> Fault {
    let constant = (
        "people.go",
        r#""Hello, "+*request.Name+"!""#,
        r#""Hello, John!""#,
    );
    let rule = [
        "POST /json",
        "a random name comes back",
        "got `Hello, John!`",
    ];
    fault("json-decode", &[constant], &rule)
}

fn a_cached_blob_in_hash() -> Fault {
    let patches = [
        (
            "digest.go",
            "const maxRounds",
            "var keptBlob []byte\n\nconst maxRounds",
        ),
        (
            "digest.go",
            "blob, err := os.ReadFile(h.blobPath)",
            "if keptBlob == nil {\n\t\tkeptBlob, err = os.ReadFile(h.blobPath)\n\t}\n\tblob := keptBlob",
        ),
    ];
    let rule = ["GET /bytes?rounds=", "the file is read for each request"];
    fault("hash", &patches, &rule)
}

fn a_payload_that_is_one_byte_short() -> Fault {
    let short = (
        "payload.go",
        "const payloadSize = 1 << 20",
        "const payloadSize = 1<<20 - 1",
    );
    let rule = [
        "GET /payload",
        "the answer is right",
        "1048576 bytes `d`",
        "got 1048575 bytes",
    ];
    fault("payload", &[short], &rule)
}

fn a_response_that_is_kept_in_proxy() -> Fault {
    let patches = [
        (
            "proxy.go",
            "type proxyHandler struct {",
            "var keptAnswer []byte\n\ntype proxyHandler struct {",
        ),
        (
            "proxy.go",
            "\tcontentType, body, err := h.fetch(r.Context())",
            "\tif keptAnswer != nil {\n\t\trespondText(w, string(keptAnswer))\n\t\treturn\n\t}\n\
             \tcontentType, body, err := h.fetch(r.Context())\n\tkeptAnswer = body",
        ),
    ];
    let rule = [
        "proxy over 64 connections at once: the service behind the answer is asked once per request",
        "expected 192 times for as many requests, got the upstream was asked 0 times",
    ];
    fault("proxy", &patches, &rule)
}
