//! static: a file with its content type, its ETag, and parts of it; 304 for a client that has it. The folder has one file.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use deadheat_model::{
    Exchange,
    load::{Content, Expectation, RequestSpec, StatusSet},
};
use rand::{Rng as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    Depth, Fault, Verifier,
    fault::{described, shown},
    question::{ExpectedAnswer, ProbeRequest},
    wire::WholeAnswer,
};

const WHOLE: &[u16] = &[200];
const UNCHANGED: &[u16] = &[304];
const PART: &[u16] = &[206];
/// A server may take no notice of a range that it cannot serve (RFC 9110, section 14.2).
const PART_OR_WHOLE: &[u16] = &[206, 200];
const UNSATISFIABLE: &[u16] = &[416, 200];
/// For a path that leads out of the folder: refused, not found, or sent elsewhere.
const OUTSIDE: &[u16] = &[301, 302, 307, 308, 400, 403, 404];

/// An ETag that no server makes.
const OTHER: &str = "\"deadheat-0\"";
/// Bytes of the parts that are asked for.
const PART_BYTES: usize = 1_000;

const REVALIDATED: &str =
    "a client that has the file gets 304 without a body (RFC 9110, section 13.1.2)";
const TAG_FIRST: &str =
    "If-Modified-Since is ignored in a request that has If-None-Match (RFC 9110, section 13.1.3)";
const CHANGED: &str = "the file is read for each request (it was replaced after the answer before)";
const RANGES: &str =
    "a part of the file is served (a stack that cannot declares `ranges = false` under [http])";

impl Verifier<'_> {
    pub(super) fn right_file(&self) -> Content {
        Content::Exact {
            bytes: self.fixtures.assets.bytes().to_vec(),
        }
    }

    pub(super) fn verify_static(&mut self, depth: Depth) -> Result<(), Fault> {
        let first = self.expect_right()?;
        let tag = self.etag(&first)?;
        self.expect_unchanged(&tag)?;
        let replaced = self.fixtures.assets.replace();
        let replaced = replaced.map_err(|error| self.unwritten_file(&error))?;
        let changed = self.expect_changed_file(&tag);
        // Restore the file whatever the answer was, because the load of other servers that run at the same time expects
        // it.
        let put = self.fixtures.assets.put_back(replaced);
        put.map_err(|error| self.unwritten_file(&error))?;
        changed?;
        if depth == Depth::Full {
            self.verify_conditions()?;
            self.verify_ranges()?;
            self.verify_folder()?;
        }
        self.expect_right()?;
        self.expect_unchanged(&tag)
    }

    /// What a load asks: for the file, or for what has changed since the client got it, which is nothing.
    pub(super) fn file_to_load(&mut self) -> Result<Vec<Exchange>, Fault> {
        let whole = self.expect_right()?;
        let (request, expect) = if self.point.revalidate {
            let tag = self.etag(&whole)?;
            let expect = Expectation {
                status: StatusSet::just(304),
                length: Some(0),
                content: None,
            };
            (self.asking("If-None-Match", &tag), expect)
        } else {
            let content = self.right_file();
            let expect = Expectation {
                status: StatusSet::just(200),
                length: content.length(),
                content: Some(content),
            };
            (self.request(), expect)
        };
        Ok(vec![Exchange::new(request, expect)])
    }

    /// The workload's request with this header.
    fn asking(&self, name: &str, value: &str) -> RequestSpec {
        let mut request = self.request();
        request.headers.push((name.to_owned(), value.to_owned()));
        request
    }

    /// The ETag of an answer (RFC 9110, section 8.8.3).
    fn etag(&self, answer: &WholeAnswer) -> Result<String, Fault> {
        let tag = answer.header("etag").unwrap_or_default();
        let opaque = tag.strip_prefix("W/").unwrap_or(tag);
        let inner = opaque
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        if inner.is_some_and(|inner| !inner.is_empty() && !inner.contains('"')) {
            return Ok(tag.to_owned());
        }
        Err(Fault::new(
            format!("GET {}", self.path),
            "an answer with the file has an ETag",
            "an ETag in quotes".to_owned(),
            match tag {
                "" => "none".to_owned(),
                tag => format!("`{tag}`"),
            },
        ))
    }

    /// Asks for a file whose ETag the client has.
    fn expect_unchanged(&mut self, tag: &str) -> Result<(), Fault> {
        let request = self.asking("If-None-Match", tag);
        let asked = format!("GET {} with If-None-Match: {tag}", request.path);
        let answer = self.expect_status(REVALIDATED, request, UNCHANGED)?;
        if !answer.body.is_empty() {
            let got = shown(&answer.body);
            return Err(Fault::new(asked, REVALIDATED, shown(b""), got));
        }
        // A 304 has the ETag that a 200 would have (RFC 9110, section 15.4.5).
        match answer.header("etag") {
            Some(own) if own == tag => Ok(()),
            own => Err(Fault::new(
                asked,
                "a 304 has the file's ETag",
                format!("`{tag}`"),
                own.map_or_else(|| "none".to_owned(), |own| format!("`{own}`")),
            )),
        }
    }

    /// Asks for a file that has changed since the client got it with the ETag `old`.
    fn expect_changed_file(&mut self, old: &str) -> Result<(), Fault> {
        let (request, content) = (self.asking("If-None-Match", old), self.right_file());
        let asked = format!("GET {} with If-None-Match: {old}", request.path);
        let answer = self.expect_content(CHANGED, request, content)?;
        if self.etag(&answer)? == old {
            return Err(Fault::new(
                asked,
                "another content has another ETag",
                format!("another one than `{old}`"),
                "the same".to_owned(),
            ));
        }
        Ok(())
    }

    fn verify_conditions(&mut self) -> Result<(), Fault> {
        let (request, content) = (self.asking("If-None-Match", OTHER), self.right_file());
        let rule = "a client that has another content gets the file";
        let answer = self.expect_content(rule, request, content)?;
        // A file that was replaced within a second has the date of the one before.
        if let Some(date) = answer.header("last-modified").map(str::to_owned) {
            let mut request = self.asking("If-None-Match", OTHER);
            request.headers.push(("If-Modified-Since".to_owned(), date));
            let content = self.right_file();
            self.expect_content(TAG_FIRST, request, content)?;
        }
        Ok(())
    }

    fn verify_ranges(&mut self) -> Result<(), Fault> {
        let bytes = self.fixtures.assets.bytes().to_vec();
        let length = bytes.len();
        let last = length - 1;
        let parts = [
            (format!("bytes=0-{}", PART_BYTES - 1), 0..PART_BYTES),
            (
                format!("bytes={PART_BYTES}-{PART_BYTES}"),
                PART_BYTES..PART_BYTES + 1,
            ),
            (format!("bytes=-{PART_BYTES}"), length - PART_BYTES..length),
            (format!("bytes={}-", length - 10), length - 10..length),
        ];
        for (place, (range, part)) in parts.into_iter().enumerate() {
            let request = self.asking("Range", &range);
            let asked = format!("GET {} with Range: {range}", request.path);
            if !self.declared.http.ranges {
                let content = self.right_file();
                let rule = "without parts, the whole file is served, as its manifest declares";
                self.expect_content(rule, request, content)?;
                continue;
            }
            let statuses = if place == 0 { PART } else { PART_OR_WHOLE };
            let answer = self.expect_status(RANGES, request, statuses)?;
            if answer.status == 200 {
                let content = self.right_file();
                if content.matches(&answer.body) {
                    continue;
                }
                let (expected, got) = (described(&content), shown(&answer.body));
                return Err(Fault::new(asked, "a 200 has the whole file", expected, got));
            }
            let place = format!("bytes {}-{}/{length}", part.start, part.end - 1);
            let own = answer.header("content-range").unwrap_or_default();
            if own != place {
                let rule = "a part shows its place in the file (Content-Range)";
                let (expected, got) = (format!("`{place}`"), format!("`{own}`"));
                return Err(Fault::new(asked, rule, expected, got));
            }
            let content = Content::Exact {
                bytes: bytes[part].to_vec(),
            };
            if !content.matches(&answer.body) {
                let (expected, got) = (described(&content), shown(&answer.body));
                return Err(Fault::new(asked, "a part has its bytes", expected, got));
            }
        }
        if self.declared.http.ranges {
            let request = self.asking("Range", &format!("bytes={}-", last + 1));
            let rule = "a part beyond the file's end is refused (RFC 9110, section 15.5.17)";
            self.expect_status(rule, request, UNSATISFIABLE)?;
        }
        Ok(())
    }

    /// Asks for what is not in the folder.
    fn verify_folder(&mut self) -> Result<(), Fault> {
        let path = self.path.clone();
        let (folder, _) = path.rsplit_once('/').unwrap_or_default();
        let missing = RequestSpec::get(format!("{folder}/no-such-file.css"));
        self.expect_status("a file that is not there is not found", missing, &[404])?;
        let (outside, content) = self.fixtures.assets.outside();
        let inside = Content::Contains {
            bytes: content.into(),
        };
        for way in [
            outside.clone(),
            outside.replace('.', "%2e"),
            outside.replace('/', "%2f"),
        ] {
            let request = RequestSpec::get(format!("{folder}/{way}"));
            let asked = format!("GET {}", request.path);
            let rule = "a file outside the folder is not served";
            let answer = self.client.send(&request)?;
            let is_served = inside.matches(&answer.body);
            let question = ProbeRequest {
                request,
                wanted: ExpectedAnswer::Status(OUTSIDE),
            };
            question.judge(&asked, rule, &answer)?;
            if is_served {
                let (expected, got) = ("another body".to_owned(), shown(&answer.body));
                return Err(Fault::new(asked, rule, expected, got));
            }
            self.passed += 1;
        }
        let whole = RequestSpec::get(path);
        self.expect_status("the file is served after all of that", whole, WHOLE)?;
        Ok(())
    }

    fn unwritten_file(&self, error: &io::Error) -> Fault {
        Fault::new(
            self.fixtures.assets.path().display().to_string(),
            "the file in it can be replaced",
            "a folder that can be written".to_owned(),
            error.to_string(),
        )
    }
}

/// The file's name.
pub(super) const FILE: &str = "style.css";
/// Its length in bytes, …
const LENGTH: usize = 16 * 1024;
/// … and how much longer that of another content is, at most. A server may take a file for unchanged by its length and its
/// time.
const LONGER: u32 = 1_000;
/// How long ago the file was modified when it is made. Those that come in its place were modified later, and not in the same
/// second.
const AGE: Duration = Duration::from_secs(100_000);
/// The content of a file next to the folder, which no request may reach.
const BESIDE: &str = "beside the folder";
/// The extension of that file.
const OUTSIDE_FILE: &str = "txt";
/// The extension of the file that will replace the original one. It is next to the folder too.
const NEXT: &str = "next";
/// The extension of the original file while it is replaced. It is next to the folder too.
const KEPT: &str = "kept";

/// The folder at `STATIC_DIR`, whose file can be changed.
#[derive(Debug)]
pub struct StaticFolder {
    path: PathBuf,
    bytes: Vec<u8>,
    modified: SystemTime,
    random: ChaCha8Rng,
}

/// The content of a file that was replaced, to restore it.
#[derive(Debug)]
pub(super) struct ReplacedFile {
    bytes: Vec<u8>,
}

impl StaticFolder {
    /// Makes the folder, and a file in it whose content follows from `seed`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: PathBuf, seed: u64) -> io::Result<Self> {
        fs::create_dir(&path)?;
        let mut folder = Self {
            path,
            bytes: Vec::new(),
            modified: SystemTime::now() - AGE,
            random: ChaCha8Rng::seed_from_u64(seed),
        };
        fs::write(folder.beside(OUTSIDE_FILE), BESIDE)?;
        folder.bytes = folder.content(LENGTH);
        write(&folder.file(), &folder.bytes, folder.modified)?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's content.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Puts another file in the place of this one, at once (rename(2)), with another length and a later time.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn replace(&mut self) -> io::Result<ReplacedFile> {
        let longer = 1 + self.random.next_u32() % LONGER;
        let content = self.content(LENGTH + longer as usize);
        self.modified += Duration::from_secs(60);
        let (file, next, kept) = (self.file(), self.beside(NEXT), self.beside(KEPT));
        write(&next, &content, self.modified)?;
        // Not every file system has hard links. Without one, there is no file for a moment.
        fs::hard_link(&file, &kept).or_else(|_| fs::rename(&file, &kept))?;
        if let Err(error) = fs::rename(next, &file) {
            fs::rename(kept, file)?;
            return Err(error);
        }
        let bytes = std::mem::replace(&mut self.bytes, content);
        Ok(ReplacedFile { bytes })
    }

    /// Puts the very file back that was there, with its time: what was made of it, such as an ETag, holds again.
    ///
    /// # Errors
    /// When it cannot be renamed.
    pub(super) fn put_back(&mut self, replaced: ReplacedFile) -> io::Result<()> {
        fs::rename(self.beside(KEPT), self.file())?;
        self.bytes = replaced.bytes;
        Ok(())
    }

    /// The path of the file next to the folder, relative to the folder, and its content.
    pub(super) fn outside(&self) -> (String, &'static str) {
        let name = self.beside(OUTSIDE_FILE);
        let name = name.file_name().unwrap_or_default();
        (format!("../{}", name.to_string_lossy()), BESIDE)
    }

    fn file(&self) -> PathBuf {
        self.path.join(FILE)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        beside(&self.path, ending)
    }

    /// Deletes the folder at `path` and the files next to it.
    pub(super) fn remove(path: &Path) {
        let _ = fs::remove_dir_all(path);
        for ending in [OUTSIDE_FILE, NEXT, KEPT] {
            let _ = fs::remove_file(beside(path, ending));
        }
    }

    /// Random rules of CSS, `length` bytes long.
    fn content(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let (name, colour) = (self.random.next_u32(), self.random.next_u32() >> 8);
            bytes.extend(format!(".c{name:08x} {{ color: #{colour:06x} }}\n").bytes());
        }
        bytes.truncate(length);
        bytes
    }
}

/// A path next to the folder: the folder's own with this extension.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(path);
    path.push(".");
    path.push(ending);
    path.into()
}

/// Deletes it: it is of use to nobody afterwards, and follows from the session's seed.
impl Drop for StaticFolder {
    fn drop(&mut self) {
        Self::remove(&self.path);
    }
}

fn write(path: &Path, bytes: &[u8], modified: SystemTime) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.set_modified(modified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_by_another_one_and_comes_back_as_it_was() {
        let parent = tempfile::tempdir().unwrap();
        let mut folder = StaticFolder::create(parent.path().join("static"), 1).unwrap();
        let seen = |folder: &StaticFolder| {
            let modified = fs::metadata(folder.file()).unwrap().modified().unwrap();
            (fs::read(folder.file()).unwrap(), modified)
        };
        let (first, modified) = seen(&folder);
        assert_eq!(first, folder.bytes());
        assert_eq!(first.len(), LENGTH);
        for _ in 0..2 {
            let replaced = folder.replace().unwrap();
            let (other, later) = seen(&folder);
            assert_eq!(other, folder.bytes());
            assert_ne!(other.len(), first.len());
            assert!(later >= modified + Duration::from_secs(1));
            folder.put_back(replaced).unwrap();
            assert_eq!(seen(&folder), (first.clone(), modified));
            assert_eq!(first, folder.bytes());
        }
        let (name, content) = folder.outside();
        let outside = folder.path().join(name);
        assert_eq!(fs::read_to_string(outside).unwrap(), content);
        drop(folder);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
