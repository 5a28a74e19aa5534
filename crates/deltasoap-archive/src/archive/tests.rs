//! Kills at every step, and messages that cannot be decoded.

use super::*;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int64Type, UInt16Type};
use arrow_array::{Array as _, RecordBatch};
use deltasoap_test_support::files::in_repository;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::path::PathBuf;

const SHOP: &str = include_str!("../../../deltasoap-dynamic/tests/data/shop.wsdl");

fn envelope(body: &str) -> String {
    format!("<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body>{body}</e:Body></e:Envelope>")
}

fn order(customer: &str, items: usize) -> String {
    let item = "<item><code>A-1</code><count>2</count></item>".repeat(items);
    envelope(&format!("<Order xmlns='urn:shop'><customer>{customer}</customer>{item}</Order>"))
}

fn answer(number: usize) -> String {
    envelope(&format!(
        "<OrderResponse xmlns='urn:shop'><number>{number}</number><total currency='EUR'>1.50</total>\
         <placed>2026-01-02T03:04:05Z</placed></OrderResponse>"
    ))
}

const FAULT: &str = "<e:Fault><faultcode>e:Server</faultcode><faultstring>Sold out</faultstring>\
                     <detail><SoldOut xmlns='urn:shop'><code>A-1</code></SoldOut></detail></e:Fault>";

/// Writes captures: directories, and lines with requests and their answers.
fn captures(folder: &Path) -> Vec<PathBuf> {
    for sender in ["a", "b"] {
        fs::create_dir_all(folder.join(sender)).expect("a directory");
        for number in 0..6 {
            let path = folder.join(sender).join(format!("{number}.xml"));
            fs::write(path, order(&format!("{sender}{number}"), number)).expect("a file");
        }
    }
    // An order needs an item, and a file may hold no message at all.
    fs::write(folder.join("b/7.txt"), "once upon a time").expect("a file");
    let line =
        |body: &str| serde_json::json!({ "body": body, "time": "2026-01-02T03:04:05Z", "status": 200 }).to_string();
    let lines: Vec<_> = (0..5).flat_map(|number| [line(&order("c", 1)), line(&answer(number))]).collect();
    fs::write(folder.join("log.jsonl"), lines.join("\n")).expect("a file");
    let entries: Vec<_> = (0..4)
        .map(|number| {
            let answer = if number % 2 == 0 { envelope(FAULT) } else { answer(number) };
            serde_json::json!({
                "startedDateTime": "2026-01-02T03:04:05Z", "time": 12.5,
                "request": { "url": "http://shop/order", "postData": { "text": order("d", 2) } },
                "response": { "status": if number % 2 == 0 { 500 } else { 200 }, "content": { "text": answer } },
            })
        })
        .collect();
    let har = serde_json::json!({ "log": { "version": "1.2", "entries": entries } });
    fs::write(folder.join("day.har"), har.to_string()).expect("a file");
    vec![folder.to_owned()]
}

fn options() -> Options {
    Options { chunk_messages: 5, ..Options::default() }
}

fn run(store: Store, paths: &[PathBuf], options: Options) -> Result<Summary, ArchiveError> {
    let contract = Contract::from_text(SHOP).expect("a description");
    Archive::in_store(store, &contract, Sources::find(paths), options)?.run(&mut |_| {})
}

/// Returns all files of an archive with their content, without what is temporary.
fn content(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut ahead = vec![root.to_owned()];
    while let Some(folder) = ahead.pop() {
        for path in folder.read_dir().expect("a directory").map(|entry| entry.expect("an entry").path()) {
            match path.is_dir() {
                true => ahead.push(path),
                false if path.extension().is_some_and(|it| it == "tmp") => {}
                false => {
                    let name = path.strip_prefix(root).expect("below").display().to_string();
                    files.insert(name, fs::read(&path).expect("a file"));
                }
            }
        }
    }
    files
}

fn rows(root: &Path, table: &str) -> Vec<RecordBatch> {
    let mut parts: Vec<_> =
        root.join(table).read_dir().expect("a table").map(|entry| entry.expect("a part").path()).collect();
    parts.sort();
    let read = |path: PathBuf| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).expect("a file")).expect("Parquet");
        reader.build().expect("a reader").map(|batch| batch.expect("rows")).collect::<Vec<_>>()
    };
    parts.into_iter().flat_map(read).collect()
}

fn texts(batches: &[RecordBatch], column: &str) -> Vec<Option<String>> {
    let of = |batch: &RecordBatch| {
        let column = batch.column_by_name(column).expect("a column").as_string::<i32>().clone();
        (0..column.len()).map(|row| column.is_valid(row).then(|| column.value(row).to_owned())).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of).collect()
}

fn numbers(batches: &[RecordBatch], column: &str) -> Vec<i64> {
    let of = |batch: &RecordBatch| {
        batch.column_by_name(column).expect("a column").as_primitive::<Int64Type>().values().to_vec()
    };
    batches.iter().flat_map(of).collect()
}

/// Fails after each number of steps, continues, and expects the files and counts of a run without that.
/// Returns the number of failures.
fn continued_anywhere(
    folder: &Path,
    paths: &[PathBuf],
    options: impl Fn() -> Options,
    expected: (&Counts, &BTreeMap<String, Vec<u8>>),
) -> u64 {
    for steps in 0.. {
        let root = folder.join(format!("killed-{steps}"));
        let store = Store::new(&root, Compression::Zstd);
        store.fail_after(steps);
        if run(store, paths, options()).is_ok() {
            return steps;
        }
        let summary = run(Store::new(&root, Compression::Zstd), paths, options()).expect("the rest");
        assert_eq!((&summary.counts, &content(&root)), expected, "after {steps} steps");
        fs::remove_dir_all(&root).expect("removed");
    }
    unreachable!("a run has an end")
}

#[test]
fn an_archive_that_was_killed_anywhere_is_continued_to_the_same_files() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut paths = captures(&folder.path().join("captures"));
    paths.extend(["shop.pcap", "shop.mitm"].map(|name| in_repository("testdata/captures").join(name)));
    let options = || Options { chunk_messages: 12, ..Options::default() };
    let whole = folder.path().join("whole");
    let expected = run(Store::new(&whole, Compression::Zstd), &paths, options()).expect("an archive");
    assert_eq!((expected.counts.messages, expected.counts.errors, expected.is_continued), (72, 3, false));
    let files = content(&whole);
    let kills = continued_anywhere(folder.path(), &paths, options, (&expected.counts, &files));
    assert!(kills > 30, "{kills}");
}

#[test]
fn a_finished_archive_stays_as_it_is_and_others_are_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = captures(&folder.path().join("captures"));
    let root = folder.path().join("out");
    let again = |options| run(Store::new(&root, Compression::Zstd), &paths, options);
    let first = again(options()).expect("an archive");
    let files = content(&root);
    let second = again(options()).expect("nothing to do");
    assert_eq!((second.counts, second.is_continued, content(&root)), (first.counts, true, files));
    let error = again(Options { is_nested: true, ..options() }).expect_err("other options").to_string();
    assert!(error.contains("was begun with the option nested=false: use the same again"), "{error}");
    let other =
        Contract::from_text(&SHOP.replace("name=\"coupon\" type=\"xs:int\"", "name=\"coupon\" type=\"xs:long\""));
    let other = other.expect("a description");
    let error = Archive::open(&root, &other, Sources::find(&paths), options()).expect_err("another contract");
    assert!(error.to_string().contains("was begun with another WSDL"), "{error}");
    fs::write(folder.path().join("captures/a/0.xml"), "<x/>").expect("a file");
    let error = again(options()).expect_err("other captures").to_string();
    assert!(error.contains("was begun with the captures"), "{error}");
    let error = run(Store::new(&folder.path().join("captures"), Compression::Zstd), &paths, options());
    assert!(error.expect_err("not empty").to_string().contains("is not empty, and no archive"));
}

#[test]
fn messages_at_fault_have_a_table_and_all_others_are_kept() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = captures(&folder.path().join("captures"));
    let broken = order("x", 1).replace("<count>2<", "<count>two<");
    fs::write(folder.path().join("captures/b/8.xml"), broken).expect("a file");
    fs::write(folder.path().join("captures/b/9.xml"), envelope("<other/>")).expect("a file");
    let root = folder.path().join("out");
    let summary = run(Store::new(&root, Compression::Snappy), &paths, Options::default()).expect("an archive");
    assert_eq!((summary.counts.messages, summary.counts.faults, summary.counts.errors), (28, 2, 5));
    let errors = rows(&root, "errors");
    let places: Vec<_> = texts(&errors, "place").into_iter().flatten().collect();
    let names: Vec<_> = places.iter().map(|place| &place[place.len() - 7..]).collect();
    assert_eq!(names, ["a/0.xml", "b/0.xml", "b/7.txt", "b/8.xml", "b/9.xml"]);
    let reasons: Vec<_> = texts(&errors, "reason").into_iter().flatten().collect();
    assert_eq!(reasons[2], "neither XML nor HTTP");
    assert!(reasons[4].contains("other"), "{reasons:?}");
    let count = &texts(&errors, "path")[3];
    assert!(count.as_ref().is_some_and(|path| path.contains("count")), "{count:?}");
    let operations = texts(&errors, "operation");
    assert_eq!((operations[3].as_deref(), operations[4].as_deref()), (Some("Order"), None));
    // The numbers of messages are those of all tables together.
    let mut ids: Vec<_> = [numbers(&rows(&root, "messages"), "id"), numbers(&errors, "id")].concat();
    ids.sort_unstable();
    assert_eq!(ids, (0..33).collect::<Vec<_>>());
    assert_eq!(numbers(&rows(&root, "Order.request"), "_id").len(), 10 + 5 + 4);
    assert_eq!(numbers(&rows(&root, "Order.request.item"), "_id").len(), 2 * 15 + 5 + 8);
}

#[test]
fn faults_are_in_the_table_of_the_operation_that_was_called() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = captures(&folder.path().join("captures"));
    let root = folder.path().join("out");
    run(Store::new(&root, Compression::None), &paths, options()).expect("an archive");
    let faults = rows(&root, "Order.fault");
    assert_eq!(texts(&faults, "reason"), vec![Some("Sold out".to_owned()); 2]);
    let detail = texts(&faults, "detail")[0].clone().expect("a detail");
    assert!(detail.contains("\"code\":\"A-1\""), "{detail}");
    let messages = rows(&root, "messages");
    let of_faults: Vec<_> = messages
        .iter()
        .flat_map(|batch| {
            let direction = batch.column_by_name("direction").expect("a column").as_string::<i32>().clone();
            let status = batch.column_by_name("status").expect("a column").as_primitive::<UInt16Type>().clone();
            (0..batch.num_rows())
                .filter(|&row| direction.value(row) == "fault")
                .map(|row| status.value(row))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(of_faults, [500, 500]);
}

#[test]
fn rows_are_keyed_to_their_parents_across_chunks() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = captures(&folder.path().join("captures"));
    let root = folder.path().join("out");
    run(Store::new(&root, Compression::Zstd), &paths, options()).expect("an archive");
    let items = rows(&root, "Order.request.item");
    let ids = numbers(&items, "_id");
    assert_eq!(ids, (0..ids.len() as i64).collect::<Vec<_>>());
    let orders = numbers(&rows(&root, "Order.request"), "_id");
    assert!(numbers(&items, "_parent").iter().all(|parent| orders.contains(parent)));
}

/// What waits in memory is bounded by the size of the messages, whatever the size of a chunk.
#[test]
fn rows_are_written_before_the_chunk_ends() {
    let folder = tempfile::tempdir().expect("a directory");
    let lines: Vec<_> = (0..400).map(|_| serde_json::json!({ "body": order("big", 1000) }).to_string()).collect();
    fs::write(folder.path().join("log.jsonl"), lines.join("\n")).expect("a file");
    let contract = Contract::from_text(SHOP).expect("a description");
    let root = folder.path().join("out");
    let sources = Sources::find(&[folder.path().join("log.jsonl")]);
    let archive = Archive::open(&root, &contract, sources, Options::default()).expect("an archive");
    let part = root.join("Order.request.item/part-00000.tmp");
    let mut sizes = Vec::new();
    archive.run(&mut |_| sizes.push(part.metadata().map_or(0, |it| it.len()))).expect("tables");
    assert!(sizes[..390].iter().any(|size| *size > 0), "the file grows while messages are read");
}

/// Lines of three senders who mostly repeat themselves.
fn repeating(folder: &Path, seed: u64) -> PathBuf {
    let with = |from: &str, to: &str| order("x", 2).replace(from, to);
    let bodies = [
        order("x", 2),
        order("y", 2),
        // The same text with other white space, another prefix, another header: the same value.
        with("<Order xmlns='urn:shop'>", "\n <Order  xmlns='urn:shop' >\n"),
        with("<e:Body>", "<e:Header><id>7</id></e:Header><e:Body>"),
        // Another attribute, another item, other digits.
        with("<Order ", "<Order urgent='true' "),
        order("x", 3),
        with("<count>2<", "<count>02<"),
        with("<count>2<", "<count>two<"),
        answer(1),
        answer(1).replace("1.50", "1.5"),
        answer(1).replace("04:05Z", "04:05+00:00"),
        envelope(FAULT),
    ];
    let (mut state, mut lines) = (seed, Vec::new());
    let mut last = [0; 3];
    for _ in 0..240 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (sender, is_new) = ((state >> 33) as usize % 3, (state >> 40) % 3 == 0);
        if is_new {
            last[sender] = (state >> 48) as usize % bodies.len();
        }
        lines.push(serde_json::json!({ "body": bodies[last[sender]], "sender": sender.to_string() }).to_string());
    }
    let path = folder.join(format!("{seed}.jsonl"));
    fs::write(&path, lines.join("\n")).expect("a file");
    path
}

/// Returns the rows of a nested table by the numbers of their messages.
fn rows_by_message(root: &Path, table: &str) -> BTreeMap<i64, RecordBatch> {
    let of = |batch: RecordBatch| {
        let ids = batch.column(0).as_primitive::<Int64Type>().clone();
        let values = batch.project(&(1..batch.num_columns()).collect::<Vec<_>>()).expect("columns");
        (0..batch.num_rows()).map(|row| (ids.value(row), values.slice(row, 1))).collect::<Vec<_>>()
    };
    rows(root, table).into_iter().flat_map(of).collect()
}

#[test]
fn rows_that_are_left_out_are_those_of_the_message_that_is_named_instead() {
    let folder = tempfile::tempdir().expect("a directory");
    let mut repeated = 0;
    for seed in 0..12 {
        let paths = [repeating(folder.path(), seed)];
        let (whole, less) = (folder.path().join(format!("whole-{seed}")), folder.path().join(format!("less-{seed}")));
        let options = |deduplicate| Options { is_nested: true, deduplicate, chunk_messages: 50, ..Options::default() };
        let of_whole = run(Store::new(&whole, Compression::None), &paths, options(false)).expect("an archive").counts;
        let counts = run(Store::new(&less, Compression::None), &paths, options(true)).expect("an archive").counts;
        assert_eq!(Counts { repeated: 0, ..counts.clone() }, of_whole);
        let messages = rows(&less, "messages");
        let (mut same, mut of_messages) = (BTreeMap::new(), Vec::new());
        for batch in &messages {
            let ids = batch.column_by_name("id").expect("a column").as_primitive::<Int64Type>().clone();
            let same_as = batch.column_by_name("same_as").expect("a column").as_primitive::<Int64Type>().clone();
            for row in 0..batch.num_rows() {
                of_messages.push(ids.value(row));
                if same_as.is_valid(row) {
                    assert!(same_as.value(row) < ids.value(row));
                    same.insert(ids.value(row), same_as.value(row));
                }
            }
        }
        assert_eq!(same.len() as u64, counts.repeated);
        assert_eq!(of_messages, numbers(&rows(&whole, "messages"), "id"));
        for table in ["Order.request", "Order.response"] {
            let (expected, found) = (rows_by_message(&whole, table), rows_by_message(&less, table));
            assert!(found.keys().all(|id| !same.contains_key(id)), "a row that was to be left out");
            for (id, row) in &expected {
                let holder = same.get(id).unwrap_or(id);
                assert_eq!(found.get(holder), Some(row), "seed {seed}, message {id} by {holder} in {table}");
            }
        }
        repeated += counts.repeated;
    }
    assert!(repeated > 800, "{repeated}");
}

#[test]
fn what_repeats_the_last_message_of_its_sender_is_noted() {
    let folder = tempfile::tempdir().expect("a directory");
    let header = order("x", 1).replace("<e:Body>", "<e:Header><id>7</id></e:Header><e:Body>");
    let urgent = order("x", 1).replace("<Order ", "<Order urgent='true' ");
    let of = |sender: &str, body: String| serde_json::json!({ "body": body, "sender": sender }).to_string();
    let lines = [
        of("a", order("x", 1)),
        of("a", order("x", 1)),
        of("b", order("x", 1)),
        of("a", answer(1)),
        of("a", header),
        of("a", urgent.clone()),
        of("a", urgent),
        of("a", order("x", 1)),
        of("a", envelope(FAULT)),
        of("a", envelope(FAULT)),
        of("a", order("x", 1)),
    ];
    let path = folder.path().join("log.jsonl");
    fs::write(&path, lines.join("\n")).expect("a file");
    let root = folder.path().join("out");
    let options = Options { deduplicate: true, ..Options::default() };
    let counts = run(Store::new(&root, Compression::None), &[path], options).expect("an archive").counts;
    assert_eq!((counts.messages, counts.faults, counts.repeated), (11, 2, 4));
    let same_as = rows(&root, "messages")[0].column_by_name("same_as").expect("a column").clone();
    let same_as: Vec<_> = same_as.as_primitive::<Int64Type>().iter().collect();
    let expected = [None, Some(0), None, None, Some(0), None, Some(5), None, None, None, Some(7)];
    assert_eq!(same_as, expected);
    assert_eq!(numbers(&rows(&root, "Order.request"), "_id"), [0, 2, 5, 7]);
}

#[test]
fn an_archive_without_repeated_rows_is_continued_to_the_same_files() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = [repeating(folder.path(), 99)];
    let options = || Options { deduplicate: true, chunk_messages: 60, ..Options::default() };
    let whole = folder.path().join("whole");
    let expected = run(Store::new(&whole, Compression::Zstd), &paths, options()).expect("an archive");
    assert!(expected.counts.repeated > 50, "{expected:?}");
    let files = content(&whole);
    let kills = continued_anywhere(folder.path(), &paths, options, (&expected.counts, &files));
    assert!(kills > 20, "{kills}");
}

#[test]
fn a_run_that_is_ended_is_complete_so_far_and_can_be_continued() {
    let folder = tempfile::tempdir().expect("a directory");
    let paths = captures(&folder.path().join("captures"));
    let contract = Contract::from_text(SHOP).expect("a description");
    let whole =
        run(Store::new(&folder.path().join("whole"), Compression::Zstd), &paths, options()).expect("an archive");
    for most in [2, 7, 20, 30] {
        let root = folder.path().join(format!("ended-{most}"));
        let archive = Archive::open(&root, &contract, Sources::find(&paths), options()).expect("an archive");
        let ended = archive.run_while(&mut |counts| counts.messages + counts.errors < most).expect("tables");
        assert!((most..=most + 1).contains(&(ended.counts.messages + ended.counts.errors)), "{ended:?}");
        assert_eq!(numbers(&rows(&root, "messages"), "id").len() as u64, ended.counts.messages);
        let rest = run(Store::new(&root, Compression::Zstd), &paths, options()).expect("the rest");
        assert_eq!((rest.counts, rest.is_continued), (whole.counts.clone(), true));
        assert_eq!(numbers(&rows(&root, "Order.fault"), "_id").len(), 2);
        let mut ids = [numbers(&rows(&root, "messages"), "id"), numbers(&rows(&root, "errors"), "id")].concat();
        ids.sort_unstable();
        assert_eq!(ids, (0..31).collect::<Vec<_>>());
    }
}

#[test]
fn captures_that_were_there_before_must_not_be_gone() {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("log.jsonl");
    let lines: Vec<_> = (0..9).map(|_| serde_json::json!({ "body": order("x", 1) }).to_string()).collect();
    let whole = lines.join("\n");
    fs::write(&path, &whole).expect("a file");
    let root = folder.path().join("out");
    let contract = Contract::from_text(SHOP).expect("a description");
    let paths = [path.clone()];
    let archive = Archive::open(&root, &contract, Sources::find(&paths), options()).expect("an archive");
    archive.run_while(&mut |counts| counts.messages < 7).expect("tables");
    // As large as before, and read to the fourth line, or with five lines.
    let unreadable = [&lines[..3].join("\n"), "\n"].concat();
    let longer = format!("{unreadable}{}", "x".repeat(whole.len() - unreadable.len()));
    let five = lines[..5].join("\n");
    let shorter = format!("{five}{}", "\n".repeat(whole.len() - five.len()));
    for (content, reason) in [(longer, "log.jsonl:4 was read further"), (shorter, "nothing more is in it")] {
        fs::write(&path, content).expect("a file");
        let error = run(Store::new(&root, Compression::Zstd), &paths, options()).expect_err("less captures");
        assert!(error.to_string().contains(reason), "{error}");
    }
    fs::write(&path, &whole).expect("a file");
    let rest = run(Store::new(&root, Compression::Zstd), &paths, options()).expect("the rest");
    assert_eq!((rest.counts.messages, rest.counts.errors), (9, 0));
}

#[test]
fn files_of_a_directory_that_are_in_the_tables_are_not_read_again() {
    let folder = tempfile::tempdir().expect("a directory");
    let captures = folder.path().join("captures");
    fs::create_dir_all(&captures).expect("a directory");
    for number in 0..9 {
        fs::write(captures.join(format!("{number}.xml")), order("x", 1)).expect("a file");
    }
    let sources = Sources::find(std::slice::from_ref(&captures));
    fs::remove_file(captures.join("3.xml")).expect("a file");
    let mut places = Vec::new();
    let mut visit = |item| {
        places.push(format!("{item:?}"));
        Ok(())
    };
    let read = |first, visit: &mut crate::sources::Visit<'_>| {
        sources.all[0].each_after(first, Limits::default(), &JsonColumns::default(), visit)
    };
    read(4, &mut visit).expect("files");
    assert!(read(9, &mut visit).is_err(), "there must be one more");
    assert!(places.len() == 5 && places[0].contains("4.xml"), "{places:?}");
}
