//! SQL over the tables of an archive.
//!
//! Every directory of Parquet files is a table with the name of the directory. DataFusion reads the
//! files; it may have another version of Arrow than the writer, because files are the interface.
//! Queries read nothing but these tables, and change nothing: they may select, and no more.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::LineDelimitedWriter;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::{DataFusionError, SchemaError, TableReference};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::{ALL_KEYWORDS, Keyword};
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use futures_util::StreamExt as _;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::NamedTempFile;
use url::Url;

/// The part of the memory that a sort sets aside is one in this many.
const MERGING: usize = 3;
/// The memory that each of the tasks of a query that run at one time should have.
const TASK: usize = 32 << 20;
/// A batch has a row for each of so many bytes of the memory, at most.
const BATCH_ROW: usize = 32 << 10;
/// Maximum number of operators in a query: each may be a level of a tree, which is walked by recursion.
const OPERATORS: usize = 2000;
/// Number of encoded bytes after which a row group ends: they are in memory until then.
const GROUP_BYTES: usize = 16 << 20;

/// Why a query has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A directory or file cannot be read or written.
    #[error("{}", path.display())]
    File {
        /// The directory or file.
        path: PathBuf,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The directory has no tables.
    #[error("{} has no tables: name the directory that `archive` wrote", .0.display())]
    NoTables(PathBuf),
    /// The rows cannot be written.
    #[error("the rows cannot be written")]
    Output(#[source] io::Error),
    /// The query names a table that does not exist.
    #[error("no table {name}{hint}; there are {known} (a table without rows has no files)")]
    Table {
        /// The name in the query.
        name: String,
        /// How to write the name, if it was meant for a known table.
        hint: String,
        /// The names of all tables, as they are written in a query.
        known: String,
    },
    /// The query names a column that does not exist.
    #[error("no column {name}; there are {known}")]
    Column {
        /// The name in the query.
        name: String,
        /// The names of all columns, as they are written in a query.
        known: String,
    },
    /// The query is not SQL.
    #[error("{0}")]
    Sql(String),
    /// The query has too many operators.
    #[error("a query has at most {OPERATORS} operators: write long lists of values as in (...)")]
    TooLong,
    /// The query does something else than select.
    #[error("queries only select; write their rows to a file instead")]
    NoSelect,
    /// Comma-separated values have no form for a column.
    #[error("the column {0} is a list or a struct: write JSON or Parquet")]
    Nested(String),
    /// The query needs more memory than it may have, even with files on disk.
    #[error("the query needs more than {limit} bytes of memory, and a higher limit lets it have them: {reason}")]
    Memory {
        /// The limit in bytes.
        limit: usize,
        /// What needed it.
        reason: String,
    },
    /// A table cannot be read, or a value cannot be computed.
    #[error("{0}")]
    Execution(String),
}

/// The tables of an archive, for queries.
pub struct QueryTables {
    context: SessionContext,
    folders: BTreeMap<String, PathBuf>,
    memory: usize,
}

impl std::fmt::Debug for QueryTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryTables").field("folders", &self.folders).finish_non_exhaustive()
    }
}

impl QueryTables {
    /// Opens the tables below a directory. A query takes `memory` bytes at most for sorting,
    /// grouping and joining, and uses files in the system's temporary directory beyond that.
    ///
    /// # Errors
    /// If there are none, or the directory cannot be read.
    pub fn open(root: &Path, memory: usize) -> Result<Self, QueryError> {
        let folders = folders(root)?;
        if folders.is_empty() {
            return Err(QueryError::NoTables(root.to_owned()));
        }
        // What a sort sets aside to merge its files, at most as much as by default.
        let config = SessionConfig::new();
        let merging = config.options().execution.sort_spill_reservation_bytes.min(memory / MERGING);
        let tasks = config.target_partitions().min(memory / TASK).max(1);
        // A merge holds a batch of each of its files.
        let batch = config.batch_size().min(memory / BATCH_ROW).max(1);
        let config = config.with_sort_spill_reservation_bytes(merging).with_target_partitions(tasks);
        let config = config.with_batch_size(batch);
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(FairSpillPool::new(memory)))
            .with_disk_manager_builder(disk)
            .build_arc()
            .map_err(|error| failure(error, memory))?;
        let context = SessionContext::new_with_config_rt(config, runtime);
        Ok(QueryTables { context, folders, memory })
    }

    /// Returns the names of the tables, in their order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(String::as_str)
    }

    /// Begins a query.
    ///
    /// # Errors
    /// If it is not a query, or names something that does not exist or cannot be read.
    pub async fn select(&self, sql: &str) -> Result<Rows, QueryError> {
        let of = |error| failure(error, self.memory);
        if operators(sql) > OPERATORS {
            return Err(QueryError::TooLong);
        }
        let state = self.context.state();
        let dialect = state.config().options().sql_parser.dialect;
        let statement = state.sql_to_statement(sql, &dialect).map_err(of)?;
        for table in state.resolve_table_references(&statement).map_err(of)? {
            self.register(&table).await?;
        }
        let plan = state.statement_to_plan(statement).await.map_err(of)?;
        let only_select = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        only_select.verify_plan(&plan).map_err(|_| QueryError::NoSelect)?;
        let rows = self.context.execute_logical_plan(plan).await.map_err(of)?;
        Ok(Rows { stream: rows.execute_stream().await.map_err(of)?, memory: self.memory })
    }

    /// Opens a table that a query names.
    async fn register(&self, table: &TableReference) -> Result<(), QueryError> {
        let of = |error| failure(error, self.memory);
        let folder = self.folders.get(table.table()).filter(|_| table.schema().is_none());
        let folder = folder.ok_or_else(|| self.unknown(table))?;
        let name = TableReference::bare(table.table());
        if self.context.table_exist(name.clone()).map_err(of)? {
            return Ok(());
        }
        let unreadable = |error| QueryError::Execution(format!("{}: {}", folder.display(), of(error)));
        let files = files(&self.context, folder).await.map_err(unreadable)?;
        self.context.register_table(name, files).map_err(of)?;
        Ok(())
    }

    fn unknown(&self, table: &TableReference) -> QueryError {
        let name = table.to_string();
        let meant = self.names().find(|known| known.eq_ignore_ascii_case(&name));
        let hint = meant.map_or_else(String::new, |known| format!(" (write {})", quoted(known)));
        let known = self.names().map(quoted).collect::<Vec<_>>().join(", ");
        QueryError::Table { name, hint, known }
    }
}

/// Returns the number of operators in a query, about. What is no SQL is for the parser to tell.
fn operators(sql: &str) -> usize {
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let is_operator = |token: &&Token| match token {
        Token::Word(word) => matches!(word.keyword, Keyword::AND | Keyword::OR | Keyword::NOT | Keyword::UNION),
        Token::Number(..) | Token::SingleQuotedString(_) => false,
        Token::Comma | Token::Period | Token::Whitespace(_) => false,
        _ => true,
    };
    tokens.iter().filter(is_operator).count()
}

/// Returns the directories of Parquet files by their names.
fn folders(root: &Path) -> Result<BTreeMap<String, PathBuf>, QueryError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| QueryError::File { path, error }
    };
    let root = root.canonicalize().map_err(at(root))?;
    let mut folders = BTreeMap::new();
    for entry in root.read_dir().map_err(at(&root))? {
        let path = entry.map_err(at(&root))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_dir()) else { continue };
        let mut files = path.read_dir().map_err(at(&path))?.filter_map(Result::ok);
        if files.any(|file| file.path().extension().is_some_and(|it| it == "parquet")) {
            folders.insert(name.to_owned(), path);
        }
    }
    Ok(folders)
}

/// Returns the Parquet files of a directory as a table.
async fn files(context: &SessionContext, folder: &Path) -> Result<Arc<ListingTable>, DataFusionError> {
    let url = Url::from_directory_path(folder).map_err(|()| DataFusionError::Internal("a relative path".to_owned()))?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config = ListingTableConfig::new(ListingTableUrl::parse(url.as_str())?).with_listing_options(options);
    let config = config.infer_schema(&context.state()).await?;
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// Returns a name as SQL needs it.
fn quoted(name: &str) -> String {
    let is_keyword = || ALL_KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).is_ok();
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !is_keyword();
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

fn failure(error: DataFusionError, limit: usize) -> QueryError {
    match error.find_root() {
        DataFusionError::SchemaError(error, _) => match &**error {
            SchemaError::FieldNotFound { field, valid_fields } => {
                let known = valid_fields.iter().map(|column| match &column.relation {
                    Some(table) => format!("{}.{}", quoted(table.table()), quoted(&column.name)),
                    None => quoted(&column.name),
                });
                let known = known.collect::<Vec<_>>().join(", ");
                QueryError::Column { name: field.flat_name(), known }
            }
            other => QueryError::Sql(other.to_string()),
        },
        DataFusionError::ResourcesExhausted(reason) => QueryError::Memory { limit, reason: reason.clone() },
        DataFusionError::SQL(error, _) => QueryError::Sql(error.to_string()),
        DataFusionError::Plan(reason) | DataFusionError::NotImplemented(reason) => QueryError::Sql(reason.clone()),
        other => QueryError::Execution(other.to_string()),
    }
}

/// The rows of a query. They are computed while they are written.
pub struct Rows {
    stream: SendableRecordBatchStream,
    memory: usize,
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("schema", &self.stream.schema()).finish_non_exhaustive()
    }
}

impl Rows {
    /// Returns the names of the columns.
    pub fn columns(&self) -> Vec<String> {
        self.stream.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Writes a line of JSON for each row; each call of `to` gets whole lines. Returns the number of rows.
    ///
    /// # Errors
    /// If the query or the writing fails.
    pub async fn write_json(self, mut to: impl Write) -> Result<u64, QueryError> {
        self.each(|batch| {
            let mut writer = LineDelimitedWriter::new(Vec::new());
            writer.write(batch).and_then(|()| writer.finish()).map_err(arrow_failure)?;
            to.write_all(&writer.into_inner()).map_err(QueryError::Output)
        })
        .await
    }

    /// Writes comma-separated values, with the names of the columns in the first line; each call of `to`
    /// gets whole lines. Returns the number of rows.
    ///
    /// # Errors
    /// If the query or the writing fails, or a column is a list or a struct.
    pub async fn write_csv(self, mut to: impl Write) -> Result<u64, QueryError> {
        let schema = self.stream.schema();
        if let Some(field) = schema.fields().iter().find(|field| field.data_type().is_nested()) {
            return Err(QueryError::Nested(quoted(field.name())));
        }
        let mut write = |batch: &RecordBatch, has_header: bool| {
            let mut lines = Vec::new();
            let mut writer = WriterBuilder::new().with_header(has_header).build(&mut lines);
            writer.write(batch).map_err(arrow_failure)?;
            drop(writer);
            to.write_all(&lines).map_err(QueryError::Output)
        };
        write(&RecordBatch::new_empty(schema), true)?;
        self.each(|batch| write(batch, false)).await
    }

    /// Writes a Parquet file, which appears when it is complete. Returns the number of rows.
    ///
    /// # Errors
    /// If the query or the writing fails.
    pub async fn write_parquet(self, path: &Path) -> Result<u64, QueryError> {
        let at = |error| QueryError::File { path: path.to_owned(), error };
        let wrong = |error| QueryError::Execution(format!("{}: {error}", path.display()));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = NamedTempFile::new_in(folder).map_err(at)?;
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let mut writer = ArrowWriter::try_new(file, self.stream.schema(), Some(properties)).map_err(wrong)?;
        let rows = self.each(|batch| {
            writer.write(batch).map_err(wrong)?;
            if writer.in_progress_size() > GROUP_BYTES { writer.flush().map_err(wrong) } else { Ok(()) }
        });
        let rows = rows.await?;
        let file = writer.into_inner().map_err(wrong)?;
        file.persist(path).map_err(|error| at(error.error))?;
        Ok(rows)
    }

    /// Returns the first `most` rows as texts, and true if there are more. A null is an empty text.
    ///
    /// # Errors
    /// If the query fails.
    pub async fn texts(mut self, most: usize) -> Result<(Vec<Vec<String>>, bool), QueryError> {
        let options = FormatOptions::default();
        let mut rows = Vec::new();
        while let Some(batch) = self.next().await? {
            let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
            let columns = columns.collect::<Result<Vec<_>, _>>().map_err(arrow_failure)?;
            for row in 0..batch.num_rows() {
                if rows.len() == most {
                    return Ok((rows, true));
                }
                rows.push(columns.iter().map(|column| column.value(row).to_string()).collect());
            }
        }
        Ok((rows, false))
    }

    async fn each(mut self, mut write: impl FnMut(&RecordBatch) -> Result<(), QueryError>) -> Result<u64, QueryError> {
        let mut rows = 0;
        while let Some(batch) = self.next().await? {
            rows += batch.num_rows() as u64;
            write(&batch)?;
        }
        Ok(rows)
    }

    async fn next(&mut self) -> Result<Option<RecordBatch>, QueryError> {
        self.stream.next().await.transpose().map_err(|error| failure(error, self.memory))
    }
}

fn arrow_failure(error: ArrowError) -> QueryError {
    QueryError::Execution(error.to_string())
}

#[cfg(test)]
mod tests;
