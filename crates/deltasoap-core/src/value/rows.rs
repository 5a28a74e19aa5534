//! Arrays of several dimensions as lists of lists.

use super::{OTHER_SHAPE, Value};
use crate::encode::{self, Encoder};
use crate::schema::View;

/// Converts items in row-major order to rows, given the sizes of all dimensions. Does nothing for
/// one dimension.
pub(super) fn nest(items: &mut Vec<Value>, sizes: &[u64]) {
    if items.is_empty() && !sizes.is_empty() {
        *items = without_items(sizes);
        return;
    }
    for &size in sizes.iter().skip(1).rev() {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let mut rest = std::mem::take(items).into_iter().peekable();
        while size > 0 && rest.peek().is_some() {
            items.push(Value::List(rest.by_ref().take(size).collect()));
        }
    }
}

/// Creates nested rows, the innermost of which are empty. Reading has limited their number.
fn without_items(sizes: &[u64]) -> Vec<Value> {
    match sizes {
        [rows, inner @ ..] if !inner.is_empty() => (0..*rows).map(|_| Value::List(without_items(inner))).collect(),
        _ => Vec::new(),
    }
}

/// Writes the rows of an array; all must have the same sizes.
pub(super) fn encode(rows: &[Value], encoder: &mut Encoder, view: View<'_>) {
    let dimensions = view.array().map_or(1, |array| array.dimensions as usize);
    let sizes = sizes(rows, dimensions);
    let field = encode::array::begin_rows(&sizes, encoder, view);
    encode_row(rows, &sizes, encoder, &mut |item, encoder| {
        encode::flat::encode_item(item, encoder, &field, view.follow(field.element));
    });
}

/// Returns the number of rows, the length of the first row, and so on for each dimension.
fn sizes(rows: &[Value], dimensions: usize) -> Vec<usize> {
    let mut sizes = vec![rows.len()];
    let mut first = rows.first();
    while sizes.len() < dimensions {
        let row = match first {
            Some(Value::List(row)) => row.as_slice(),
            _ => &[],
        };
        sizes.push(row.len());
        first = row.first();
    }
    sizes
}

fn encode_row(
    items: &[Value],
    sizes: &[usize],
    encoder: &mut Encoder,
    encode_item: &mut dyn FnMut(&Value, &mut Encoder),
) {
    let [size, inner @ ..] = sizes else { return };
    if items.len() != *size {
        return encoder.fail(OTHER_SHAPE);
    }
    for item in items {
        match item {
            _ if inner.is_empty() => encode_item(item, encoder),
            Value::List(row) => encode_row(row, inner, encoder, encode_item),
            _ => encoder.fail(OTHER_SHAPE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simple;

    fn ints(items: impl IntoIterator<Item = i32>) -> Vec<Value> {
        items.into_iter().map(|item| Value::Simple(Simple::Int(item))).collect()
    }

    #[test]
    fn rows_of_rows() {
        let mut items = ints(0..12);
        nest(&mut items, &[2, 3, 2]);
        assert_eq!(sizes(&items, 3), [2, 3, 2]);
        let Value::List(second) = &items[1] else { panic!("a row") };
        assert_eq!(second[2], Value::List(ints([10, 11])));
    }

    #[test]
    fn rows_without_items() {
        for of in [vec![2, 0], vec![2, 3, 0], vec![0, 0]] {
            let mut items = Vec::new();
            nest(&mut items, &of);
            assert_eq!(sizes(&items, of.len()).iter().map(|size| *size as u64).collect::<Vec<_>>(), of);
        }
    }
}
