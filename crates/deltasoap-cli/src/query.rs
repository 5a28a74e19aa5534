//! `deltasoap query`: SQL over the tables of an archive.

use crate::cli::Query;
use anyhow::Result;

/// Says how to get queries.
#[cfg(not(feature = "query"))]
pub async fn run(_: &Query) -> Result<()> {
    anyhow::bail!(
        "this build has no queries: install one with `cargo install deltasoap-cli --features query`, or query the \
         files of the tables with DuckDB, as in: duckdb -c \"select * from 'tables/messages/*.parquet'\""
    )
}

/// Maximum number of rows of a printed table.
#[cfg(feature = "query")]
const MOST_ROWS: usize = 1000;

/// Prints or writes the rows.
#[cfg(feature = "query")]
pub async fn run(arguments: &Query) -> Result<()> {
    use crate::output::{print_line, report, stdout};
    use deltasoap_archive::QueryTables;
    use deltasoap_report::Grid;
    use std::io::{BufWriter, Write as _};

    let tables = QueryTables::open(&arguments.tables, arguments.limit_memory as usize).await?;
    let rows = tables.select(&arguments.sql).await?;
    if let Some(path) = &arguments.output {
        let count = rows.write_parquet(path).await?;
        report(format_args!("{count} rows in {}", path.display()));
    } else if arguments.json || arguments.csv {
        let mut out = BufWriter::new(stdout());
        match arguments.json {
            true => rows.write_json(&mut out).await?,
            false => rows.write_csv(&mut out).await?,
        };
        out.flush()?;
    } else {
        let columns = rows.columns();
        let (texts, is_cut) = rows.texts(MOST_ROWS).await?;
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        print_line(Grid::new("", &columns, columns.len()).with(texts).terminal())?;
        if is_cut {
            report(format_args!("only the first {MOST_ROWS} rows are shown: --json, --csv and --output have all"));
        }
    }
    Ok(())
}
