//! The public text format of friction-contact problems.
//!
//! ```text
//! 3 contacts
//! storage rows columns
//!   storage 0, dense:   rows columns, then the entries column by column
//!   storage 1, blocks:  blocks blockRows blockColumns, the row ends, the column ends,
//!                       filled1 filled2, filled1 row pointers, filled2 block columns,
//!                       then of each block its index and its nine entries column by column
//! q, three numbers a contact (normal, tangent 1, tangent 2)
//! mu, one a contact
//! (sometimes one more number, which is ignored)
//! ```

use super::FileError;
use super::tokens::Tokens;
use crate::DelassusProblem;
use moreau_math::{Mat3, vec3};

/// Reads a problem.
pub(super) fn parse(text: &str) -> Result<DelassusProblem, FileError> {
    let mut t = Tokens::new(text);
    let dimension = t.count("the dimension")?;
    if dimension != 3 {
        return Err(t.other_dimension(dimension));
    }
    let contacts = t.count("the number of contacts")?;
    t.room_for("contacts", contacts as u64)?;
    let storage = t.count("the matrix storage")?;
    let refusal = t.refuse("the matrix storage", &storage.to_string(), "0 or 1");
    t.expect("the number of rows", 3 * contacts)?;
    t.expect("the number of columns", 3 * contacts)?;
    let blocks = match storage {
        0 => dense(&mut t, contacts)?,
        1 => sparse(&mut t, contacts)?,
        _ => return Err(refusal),
    };
    let mut q = Vec::with_capacity(contacts);
    for _ in 0..contacts {
        let n = t.number("q")?;
        q.push(vec3(n, t.number("q")?, t.number("q")?));
    }
    let friction = (0..contacts)
        .map(|_| t.number("mu"))
        .collect::<Result<Vec<f64>, FileError>>()?;
    if let Some(word) = t.next()
        && !word.parse::<f64>().is_ok_and(f64::is_finite)
    {
        return Err(t.refuse("what follows mu", word, "a number, or nothing"));
    }
    if let Some(word) = t.next() {
        return Err(t.refuse("what follows the problem", word, "nothing"));
    }
    Ok(DelassusProblem::new(q, friction, blocks)?)
}

type Blocks = Vec<(u32, u32, Mat3)>;

fn dense(t: &mut Tokens<'_>, contacts: usize) -> Result<Blocks, FileError> {
    let size = 3 * contacts;
    t.expect("the number of rows", size)?;
    t.expect("the number of columns", size)?;
    t.room_for("entries", (size as u64).saturating_mul(size as u64))?;
    let mut out = Vec::new();
    let mut columns = vec![Mat3::ZERO; contacts];
    for j in 0..contacts {
        for k in 0..3 {
            for block in &mut columns {
                let x = t.number("an entry of W")?;
                *block.col_mut(k) = vec3(x, t.number("an entry of W")?, t.number("an entry of W")?);
            }
        }
        for (i, block) in columns.iter().enumerate() {
            if *block != Mat3::ZERO {
                out.push((i as u32, j as u32, *block));
            }
        }
    }
    Ok(out)
}

fn sparse(t: &mut Tokens<'_>, contacts: usize) -> Result<Blocks, FileError> {
    let count = t.count("the number of blocks")?;
    t.room_for("entries of blocks", (count as u64).saturating_mul(11))?;
    t.expect("the number of block rows", contacts)?;
    t.expect("the number of block columns", contacts)?;
    for what in ["the end of a block row", "the end of a block column"] {
        for block in 1..=contacts {
            t.expect(what, 3 * block)?;
        }
    }
    let pointers = t.count("the number of row pointers")?;
    if pointers == 0 || pointers > contacts + 1 {
        let word = pointers.to_string();
        let allowed = format!("1 to {}", contacts + 1);
        return Err(t.refuse("the number of row pointers", &word, &allowed));
    }
    t.expect("the number of block columns' indices", count)?;
    let mut rows: Vec<u32> = Vec::with_capacity(count);
    let mut last = 0;
    t.expect("the first row pointer", 0)?;
    for row in 1..pointers {
        let end = t.count("a row pointer")?;
        if end < last || end > count {
            let allowed = format!("{last} to {count}");
            return Err(t.refuse("a row pointer", &end.to_string(), &allowed));
        }
        rows.resize(end, row as u32 - 1);
        last = end;
    }
    if last != count {
        return Err(t.refuse(
            "the last row pointer",
            &last.to_string(),
            &count.to_string(),
        ));
    }
    let mut columns = Vec::with_capacity(count);
    for _ in 0..count {
        let column = t.count("a block column")?;
        if column >= contacts {
            let allowed = format!("below {contacts}");
            return Err(t.refuse("a block column", &column.to_string(), &allowed));
        }
        columns.push(column as u32);
    }
    let mut out = Vec::with_capacity(count);
    for (index, (row, column)) in rows.into_iter().zip(columns).enumerate() {
        t.expect("the index of a block", index)?;
        let mut entries = [0.0; 9];
        for x in &mut entries {
            *x = t.number("an entry of W")?;
        }
        out.push((row, column, Mat3::from_cols_array(&entries)));
    }
    Ok(out)
}
