//! Queries over the tables of a shop, and mistakes in queries.

use super::*;
use crate::{Archive, Options, Sources};
use deltasoap_dynamic::Contract;
use serde_json::{Value as Json, json};
use std::fs::{self, File};
use tempfile::TempDir;

const SHOP: &str = include_str!("../../../deltasoap-dynamic/tests/data/shop.wsdl");
const MEMORY: usize = 64 << 20;

/// Writes an archive of `orders` orders, of one item more each.
fn archive(orders: usize) -> TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    let line = |number: usize| {
        let items = "<item><code>A-1</code><count>2</count></item>".repeat(number % 3 + 1);
        let order = format!("<Order xmlns='urn:shop'><customer>c{}</customer>{items}</Order>", number % 7);
        let soap = "http://schemas.xmlsoap.org/soap/envelope/";
        let body = format!("<e:Envelope xmlns:e='{soap}'><e:Body>{order}</e:Body></e:Envelope>");
        json!({ "body": body, "time": "2026-01-02T03:04:05Z" }).to_string()
    };
    let log = folder.path().join("log.jsonl");
    fs::write(&log, (0..orders).map(line).collect::<Vec<_>>().join("\n")).expect("a file");
    let contract = Contract::from_text(SHOP).expect("a description");
    // Several parts for each table.
    let options = Options { chunk_messages: 40, ..Options::default() };
    let root = folder.path().join("a b[1]");
    Archive::open(&root, &contract, Sources::find(&[log]), options).expect("one").run(&mut |_| {}).expect("tables");
    folder
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().build().expect("a runtime").block_on(future)
}

fn rows(folder: &TempDir, sql: &str) -> Result<Vec<Json>, QueryError> {
    wait(async {
        let tables = QueryTables::open(&folder.path().join("a b[1]"), MEMORY)?;
        let mut lines = Vec::new();
        tables.select(sql).await?.write_json(&mut lines).await?;
        let lines = String::from_utf8(lines).expect("UTF-8");
        Ok(lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
    })
}

#[test]
fn tables_have_the_names_of_their_directories() {
    let folder = archive(100);
    let tables = QueryTables::open(&folder.path().join("a b[1]"), MEMORY).expect("tables");
    assert_eq!(tables.names().collect::<Vec<_>>(), ["Order.request", "Order.request.item", "messages"]);
    let sql = "select customer, sum(i.count) as pieces from \"Order.request\" o \
               join \"Order.request.item\" i on i._parent = o._id join messages m on m.id = o._id \
               where m.time < '2026-01-03' group by customer order by customer";
    let found = rows(&folder, sql).expect("rows");
    let pieces = |customer: usize| (0..100).filter(|n| n % 7 == customer).map(|n| (n % 3 + 1) * 2).sum::<usize>();
    let expected: Vec<_> = (0..7).map(|it| json!({ "customer": format!("c{it}"), "pieces": pieces(it) })).collect();
    assert_eq!(found, expected);
}

#[test]
fn mistakes_name_what_exists() {
    let folder = archive(10);
    let error = |sql: &str| rows(&folder, sql).expect_err(sql).to_string();
    assert_eq!(
        error("select * from Order.request"),
        "no table order.request (write \"Order.request\"); there are \"Order.request\", \"Order.request.item\", messages \
         (a table without rows has no files)"
    );
    assert!(error("select * from \"Order.reply\"").starts_with("no table Order.reply; there are "));
    let column = error("select m.moment from messages m");
    assert!(column.starts_with("no column m.moment; there are m.\"id\", m.\"time\", m.sender"), "{column}");
    assert!(error("select customr from \"Order.request\"").starts_with("no column customr; there are "));
    assert!(error("selec 1").contains("selec"), "{}", error("selec 1"));
}

#[test]
fn queries_change_nothing_and_read_nothing_else() {
    let folder = archive(10);
    let out = folder.path().join("out.csv");
    for sql in [
        format!("copy (select 1) to '{}'", out.display()),
        "drop table messages".to_owned(),
        "create external table t stored as csv location '/etc/passwd'".to_owned(),
        "select * from '/etc/passwd'".to_owned(),
        "insert into messages select * from messages".to_owned(),
        "set datafusion.execution.batch_size = 1".to_owned(),
    ] {
        let error = rows(&folder, &sql).expect_err(&sql);
        assert!(!matches!(error, QueryError::Execution(_)), "{sql}: {error}");
    }
    assert!(!out.exists());
    let none = tempfile::tempdir().expect("a directory");
    let error = QueryTables::open(none.path(), MEMORY).expect_err("no tables").to_string();
    assert!(error.contains("has no tables: name the directory that `archive` wrote"), "{error}");
    assert!(QueryTables::open(&none.path().join("x"), MEMORY).is_err());
}

#[test]
fn rows_have_several_forms() {
    let folder = archive(5);
    let root = folder.path().join("a b[1]");
    let sql = "select _id, customer, note from \"Order.request\" order by _id";
    let select = async || {
        let tables = QueryTables::open(&root, MEMORY).expect("tables");
        tables.select(sql).await.expect("rows")
    };
    let mut csv = Vec::new();
    let path = folder.path().join("out.parquet");
    wait(async {
        let rows = select().await;
        assert_eq!(rows.columns(), ["_id", "customer", "note"]);
        assert_eq!(rows.write_csv(&mut csv).await.expect("rows"), 5);
        let (texts, is_cut) = select().await.texts(2).await.expect("rows");
        assert!(is_cut && texts == [["0", "c0", ""], ["1", "c1", ""]], "{texts:?}");
        assert!(!select().await.texts(5).await.expect("rows").1);
        assert_eq!(select().await.write_parquet(&path).await.expect("rows"), 5);
    });
    assert_eq!(
        String::from_utf8(csv).expect("UTF-8").lines().take(2).collect::<Vec<_>>(),
        ["_id,customer,note", "0,c0,"]
    );
    // The reader of the other version of Arrow.
    let reader =
        parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(File::open(&path).expect("a file"));
    assert_eq!(reader.expect("Parquet").metadata().file_metadata().num_rows(), 5);
    assert_eq!(fs::read_dir(folder.path()).expect("a directory").count(), 3, "nothing is left over");
}

#[test]
fn memory_is_bounded_and_large_sorts_use_files() {
    let folder = archive(2000);
    let root = folder.path().join("a b[1]");
    let sort = "select a._id as one, b._id as other, a.code from \"Order.request.item\" a \
                cross join (select * from \"Order.request.item\" limit 600) b order by a.code, b._id desc, a._id";
    let count = |memory: usize| {
        wait(async {
            let tables = QueryTables::open(&root, memory)?;
            tables.select(sort).await?.write_csv(io::sink()).await
        })
    };
    // The rows take more memory than that.
    assert_eq!(count(32 << 20).expect("rows"), 3999 * 600);
    let error = count(1 << 10).expect_err("too little").to_string();
    assert!(error.starts_with("the query needs more than 1024 bytes of memory"), "{error}");
}

/// What a writer was given, call by call.
#[derive(Default)]
struct Calls(Vec<Vec<u8>>);

impl Write for &mut Calls {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Closed;

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn writers_get_whole_characters_and_their_own_errors() {
    let folder = archive(5);
    let tables = QueryTables::open(&folder.path().join("a b[1]"), MEMORY).expect("tables");
    // Longer than the buffers of writers, and of odd length.
    let sql = "select 'x' || repeat('\u{fc}', 20000) as text from messages";
    let select = || wait(tables.select(sql)).expect("rows");
    for write in
        [|rows: Rows, to: &mut Calls| wait(rows.write_csv(to)), |rows: Rows, to: &mut Calls| wait(rows.write_json(to))]
    {
        let mut calls = Calls::default();
        assert_eq!(write(select(), &mut calls).expect("rows"), 5);
        assert!(calls.0.iter().all(|call| std::str::from_utf8(call).is_ok()));
    }
    for written in [wait(select().write_csv(Closed)), wait(select().write_json(Closed))] {
        let Err(QueryError::Output(error)) = written else { panic!("{written:?}") };
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}

#[test]
fn what_cannot_be_is_told_with_a_way_out() {
    let folder = archive(10);
    let root = folder.path().join("a b[1]");
    let tables = QueryTables::open(&root, MEMORY).expect("tables");
    let nested = wait(async { tables.select("select [1, 2] as \"order\"").await?.write_csv(io::sink()).await });
    assert_eq!(
        nested.expect_err("a list").to_string(),
        "the column \"order\" is a list or a struct: write JSON or Parquet"
    );
    let copied = wait(tables.select("drop table messages")).expect_err("no query").to_string();
    assert_eq!(copied, "queries only select; write their rows to a file instead");
    // Deep trees and long lists, as programs write them.
    let terms = |count: usize| (0..count).map(|id| format!("_id = {id}")).collect::<Vec<_>>().join(" or ");
    let count =
        |condition: &str| rows(&folder, &format!("select count(*) as n from \"Order.request\" where {condition}"));
    assert_eq!(count(&terms(900)).expect("rows"), [json!({ "n": 10 })]);
    let long = count(&terms(20_000)).expect_err("too long").to_string();
    assert_eq!(long, "a query has at most 2000 operators: write long lists of values as in (...)");
    let list: Vec<_> = (0..20_000).map(|id| id.to_string()).collect();
    assert_eq!(count(&format!("_id in ({})", list.join(","))).expect("rows"), [json!({ "n": 10 })]);
    fs::write(root.join("messages/part-00000.parquet"), "no table").expect("a file");
    let damaged = rows(&folder, "select * from messages").expect_err("damaged").to_string();
    assert!(
        damaged.starts_with(&root.canonicalize().expect("a path").join("messages").display().to_string()),
        "{damaged}"
    );
    assert_eq!(rows(&folder, "select count(*) as n from \"Order.request\"").expect("rows"), [json!({ "n": 10 })]);
}
