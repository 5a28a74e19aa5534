//! SQL over the tables of an archive.
//!
//! Every directory of Parquet files is a table with the name of the directory. DataFusion reads the
//! files; it may have another version of Arrow than the writer, because files are the interface.
//! Nothing is read but these tables, and nothing is written: queries may select, and no more.

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
use futures_util::StreamExt as _;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;

/// The part of the memory that a sort sets aside is one in this many.
const MERGING: usize = 16;

/// Why a query has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A directory or file cannot be read or written.
    #[error("{}: {error}", path.display())]
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
    /// The query names a table that does not exist.
    #[error("no table {name}{hint}; there are {known}")]
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
    /// The query is not SQL, or does something else than select.
    #[error("{0}")]
    Sql(String),
    /// The query needs more memory than it may have, even with files on disk.
    #[error("the query needs more than {limit} bytes of memory: {reason}")]
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
    names: Vec<String>,
    memory: usize,
}

impl std::fmt::Debug for QueryTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QueryTables").field("names", &self.names).finish_non_exhaustive()
    }
}

impl QueryTables {
    /// Opens the tables below a directory. A query takes `memory` bytes at most for sorting,
    /// grouping and joining, and uses files in the system's temporary directory beyond that.
    ///
    /// # Errors
    /// If there are none, or they cannot be read.
    pub async fn open(root: &Path, memory: usize) -> Result<Self, QueryError> {
        let folders = folders(root)?;
        if folders.is_empty() {
            return Err(QueryError::NoTables(root.to_owned()));
        }
        // What a sort sets aside to merge its files, at most as much as by default.
        let config = SessionConfig::new();
        let merging = config.options().execution.sort_spill_reservation_bytes.min(memory / MERGING);
        let config = config.with_sort_spill_reservation_bytes(merging);
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::OsTmpDirectory);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(Arc::new(FairSpillPool::new(memory)))
            .with_disk_manager_builder(disk)
            .build_arc()
            .map_err(|error| failure(error, memory))?;
        let context = SessionContext::new_with_config_rt(config, runtime);
        for (name, folder) in &folders {
            let url = Url::from_directory_path(folder).map_err(|()| QueryError::NoTables(folder.clone()))?;
            let table = table(&context, &url).await.map_err(|error| failure(error, memory))?;
            let name = TableReference::bare(name.clone());
            context.register_table(name, table).map_err(|error| failure(error, memory))?;
        }
        Ok(QueryTables { context, names: folders.into_keys().collect(), memory })
    }

    /// Returns the names of the tables, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Begins a query.
    ///
    /// # Errors
    /// If it is not a query, or names something that does not exist.
    pub async fn select(&self, sql: &str) -> Result<Rows, QueryError> {
        let of = |error| failure(error, self.memory);
        let state = self.context.state();
        let dialect = state.config().options().sql_parser.dialect;
        let statement = state.sql_to_statement(sql, &dialect).map_err(of)?;
        for table in state.resolve_table_references(&statement).map_err(of)? {
            self.check(&table)?;
        }
        let plan = state.statement_to_plan(statement).await.map_err(of)?;
        let only_select = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        only_select.verify_plan(&plan).map_err(of)?;
        let rows = self.context.execute_logical_plan(plan).await.map_err(of)?;
        Ok(Rows { stream: rows.execute_stream().await.map_err(of)?, memory: self.memory })
    }

    fn check(&self, table: &TableReference) -> Result<(), QueryError> {
        if table.schema().is_none() && self.names.iter().any(|name| name == table.table()) {
            return Ok(());
        }
        let name = table.to_string();
        let meant = self.names.iter().find(|known| known.eq_ignore_ascii_case(&name));
        let hint = meant.map_or_else(String::new, |known| format!(" (write {})", quoted(known)));
        let known = self.names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        Err(QueryError::Table { name, hint, known })
    }
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

async fn table(context: &SessionContext, folder: &Url) -> Result<Arc<ListingTable>, DataFusionError> {
    let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config = ListingTableConfig::new(ListingTableUrl::parse(folder.as_str())?).with_listing_options(options);
    let config = config.infer_schema(&context.state()).await?;
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// Returns a name as SQL needs it.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
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

    /// Writes a line of JSON for each row. Returns the number of rows.
    ///
    /// # Errors
    /// If the query or the writing fails.
    pub async fn write_json(self, to: impl Write) -> Result<u64, QueryError> {
        let mut writer = LineDelimitedWriter::new(to);
        let rows = self.each(|batch| writer.write(batch)).await?;
        writer.finish().map_err(arrow_failure)?;
        Ok(rows)
    }

    /// Writes comma-separated values, with the names of the columns in the first line. Returns the
    /// number of rows.
    ///
    /// # Errors
    /// If the query or the writing fails, or a column is a list or a struct.
    pub async fn write_csv(self, to: impl Write) -> Result<u64, QueryError> {
        let empty = RecordBatch::new_empty(self.stream.schema());
        let mut writer = WriterBuilder::new().with_header(true).build(to);
        // The header of a result without rows.
        writer.write(&empty).map_err(arrow_failure)?;
        self.each(|batch| writer.write(batch)).await
    }

    /// Writes a Parquet file, which appears when it is complete. Returns the number of rows.
    ///
    /// # Errors
    /// If the query or the writing fails.
    pub async fn write_parquet(self, path: &Path) -> Result<u64, QueryError> {
        let at = |error| QueryError::File { path: path.to_owned(), error };
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let file = File::create(&temporary).map_err(at)?;
        let written = async {
            let wrong = |error| QueryError::Execution(format!("{}: {error}", path.display()));
            let mut writer = ArrowWriter::try_new(file, self.stream.schema(), Some(properties)).map_err(wrong)?;
            let rows =
                self.each(|batch| writer.write(batch).map_err(|error| ArrowError::ParquetError(error.to_string())));
            let rows = rows.await?;
            writer.close().map_err(wrong)?;
            Ok(rows)
        };
        match written.await {
            Ok(rows) => fs::rename(&temporary, path).map(|()| rows).map_err(at),
            Err(error) => {
                // What is left over says nothing that the error does not.
                let _ = fs::remove_file(&temporary);
                Err(error)
            }
        }
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

    async fn each(mut self, mut write: impl FnMut(&RecordBatch) -> Result<(), ArrowError>) -> Result<u64, QueryError> {
        let mut rows = 0;
        while let Some(batch) = self.next().await? {
            rows += batch.num_rows() as u64;
            write(&batch).map_err(arrow_failure)?;
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
