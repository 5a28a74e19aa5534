//! Comments and processing instructions, read piece by piece, and the dispatch of markup that
//! starts with `<!`.

use super::tag::{expect, scan_name};
use super::token_error::{TokenError, fault};
use super::{Aside, DocumentPart, Instructions, OpenToken, Reader, Window};
use crate::XmlErrorKind;
use crate::chars::{WHITE, expected, has, valid_prefix};

impl Reader {
    /// Reads the markup that starts with `<!` at the window's position: the start of a comment or a
    /// CDATA section.
    pub(super) fn declaration_like(&mut self, window: &mut Window<'_>) -> Result<(), TokenError> {
        let rest = &window.bytes[window.pos..];
        let (inside, opening) = match rest.get(2) {
            None => return Err(TokenError::Incomplete),
            Some(b'-') => (OpenToken::Comment, "<!--"),
            Some(b'[') => (OpenToken::CData, "<![CDATA["),
            Some(b'D') => (OpenToken::Nothing, "<!DOCTYPE"),
            Some(_) => return Err(expected(window.bytes, window.pos + 2, "a comment or a CDATA section after `<!`")),
        };
        self.opening(window, opening)?;
        match inside {
            OpenToken::Nothing => return Err(fault(window.pos, XmlErrorKind::Doctype)),
            OpenToken::CData if self.place != DocumentPart::Content => {
                return Err(fault(window.pos, self.stray_text('<')));
            }
            _ => {}
        }
        self.inside = inside;
        if inside == OpenToken::Comment {
            self.begin_aside(None);
        }
        window.pos += opening.len();
        Ok(())
    }

    /// Checks that the window continues with `opening`.
    fn opening(&self, window: &Window<'_>, opening: &'static str) -> Result<(), TokenError> {
        let rest = &window.bytes[window.pos..];
        let same = rest.iter().zip(opening.as_bytes()).take_while(|(a, b)| a == b).count();
        match same {
            _ if same == opening.len() => Ok(()),
            _ if same == rest.len() => Err(TokenError::Incomplete),
            _ => Err(expected(window.bytes, window.pos + same, opening)),
        }
    }

    /// Continues a comment, up to its end or the window's end.
    pub(super) fn comment(&mut self, window: &mut Window<'_>) -> Result<(), TokenError> {
        self.pass_over(window, b"--", b'-')?;
        match window.bytes.get(window.pos + 2) {
            None => Err(TokenError::Incomplete),
            Some(b'>') => {
                window.pos += 3;
                self.inside = OpenToken::Nothing;
                Ok(())
            }
            Some(_) => Err(fault(window.pos, XmlErrorKind::CommentHyphens)),
        }
    }

    /// Reads the start of a processing instruction: `<?`, its target and the byte after it.
    pub(super) fn instruction(&mut self, window: &mut Window<'_>) -> Result<(), TokenError> {
        let (bytes, at) = (window.bytes, window.pos + 2);
        let end = scan_name(bytes, at, self.limits.name, "a name after `<?`")?;
        let target = String::from_utf8_lossy(&bytes[at..end]);
        if target.eq_ignore_ascii_case("xml") {
            return Err(fault(window.pos, XmlErrorKind::MisplacedDeclaration));
        }
        if self.instructions == Instructions::Refuse {
            return Err(fault(window.pos, XmlErrorKind::Instruction { target: target.into_owned() }));
        }
        if target.contains(':') {
            return Err(fault(at, XmlErrorKind::QualifiedName { name: target.into_owned() }));
        }
        match bytes.get(end) {
            Some(&b) if has(b, WHITE) => {}
            Some(b'?') => {
                expect(bytes, end + 1, b'>', "`?>` after an instruction's target")?;
            }
            _ => return Err(expected(bytes, end, "white space or `?>` after an instruction's target")),
        }
        self.inside = OpenToken::Instruction;
        self.begin_aside(Some(&bytes[at..end]));
        window.pos = end;
        Ok(())
    }

    /// Continues a processing instruction, up to its end or the window's end.
    pub(super) fn instruction_data(&mut self, window: &mut Window<'_>) -> Result<(), TokenError> {
        self.pass_over(window, b"?>", b'?')?;
        window.pos += 2;
        self.inside = OpenToken::Nothing;
        Ok(())
    }

    fn begin_aside(&mut self, target: Option<&[u8]>) {
        if let Some(asides) = &mut self.asides {
            let target = target.map(|target| String::from_utf8_lossy(target).into_owned());
            asides.list.push(Aside { target, text: String::new() });
        }
    }

    /// Moves to the first `end`, over valid characters only; holds back the byte `held` at the
    /// window's end.
    fn pass_over(&mut self, window: &mut Window<'_>, end: &[u8; 2], held: u8) -> Result<(), TokenError> {
        let rest = &window.bytes[window.pos..];
        let found = memchr::memmem::find(rest, end);
        let stop = found.unwrap_or(rest.len() - usize::from(rest.last() == Some(&held)));
        let (text, fail) = valid_prefix(&rest[..stop], window.pos, stop == rest.len());
        window.pos += text.len();
        if let Some(aside) = self.asides.as_mut().and_then(|asides| asides.list.last_mut()) {
            aside.text.push_str(text);
        }
        match fail {
            Some(fail) => Err(fail),
            None if found.is_none() => Err(TokenError::Incomplete),
            None => Ok(()),
        }
    }
}
