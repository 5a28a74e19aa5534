//! What holds for every page that a command writes, opened as a file: no server, no network.

use crate::tests::Test;
use crate::visit::{DESKTOP, FITS, PHONE, Screen, Visit};
use anyhow::Result;

/// All tests, by their claims.
pub const TESTS: [(&str, Test); 5] = [
    ("it fits a phone, folded or not", phone),
    ("every table and chart has a name, and every table has headers", names),
    ("texts of charts neither overlap nor are cut", charts),
    ("legends are outside of charts", legends),
    ("every text can be read, light and dark", contrast),
];

const DARK: Screen = Screen { is_dark: true, ..DESKTOP };

/// Unfolds everything, which the last expression confirms.
const UNFOLDED: &str = "(document.querySelectorAll('details').forEach((part) => part.open = true), true)";

fn phone(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(PHONE, "")?;
    visit.check(FITS)?;
    visit.check(UNFOLDED)?;
    visit.check(FITS)
}

fn names(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "")?;
    visit.check("document.documentElement.lang === 'en' && document.querySelectorAll('h1').length === 1")?;
    visit.check_none(
        "[...document.querySelectorAll('table')].filter((table) => !(
            table.caption?.textContent && table.querySelector('thead th[scope=col]') && table.querySelector('tbody th[scope=row]')
        )).map((table) => table.outerHTML.slice(0, 200))",
    )?;
    visit.check_none(
        "[...document.querySelectorAll('.scroll')].filter((part) => !part.ariaLabel).map((part) => part.outerHTML.slice(0, 200))",
    )?;
    visit.check_none(
        "[...document.querySelectorAll('svg')].filter((picture) =>
            !(picture.closest('li') || (picture.closest('[role=img]') && picture.closest('figure').querySelector('figcaption').textContent))
        ).map((picture) => picture.outerHTML.slice(0, 200))",
    )
}

fn charts(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "")?;
    visit.check(UNFOLDED)?;
    visit.check_none(
        "[...document.querySelectorAll('.plot .scroll svg')].flatMap((plot) => {
            const frame = plot.getBoundingClientRect();
            const texts = [...plot.querySelectorAll('text')].map((text) => ({ said: text.textContent, box: text.getBoundingClientRect() }));
            const isCut = ({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1
                || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
            const overlap = (one, other) => one.left < other.right - 1 && other.left < one.right - 1
                && one.top < other.bottom - 2 && other.top < one.bottom - 2;
            const covered = texts.filter((one, at) => texts.slice(at + 1).some((other) => overlap(one.box, other.box)));
            return [...texts.filter(isCut), ...covered].map(({ said }) => said);
        })",
    )
}

fn legends(visit: &mut Visit<'_>) -> Result<()> {
    visit.open(DESKTOP, "")?;
    visit.check(UNFOLDED)?;
    visit.check_none(
        "[...document.querySelectorAll('.plot')].filter((plot) => {
            const legend = plot.querySelector('.legend')?.getBoundingClientRect();
            return legend && legend.bottom > plot.querySelector('.scroll').getBoundingClientRect().top;
        }).map((plot) => plot.innerText)",
    )
}

/// The contrast is that of WCAG 2.2, criterion 1.4.3. All backgrounds are the page's own.
fn contrast(visit: &mut Visit<'_>) -> Result<()> {
    for screen in [DESKTOP, DARK] {
        visit.open(screen, "")?;
        visit.check(UNFOLDED)?;
        visit.check_none(
            "(() => {
                const luminance = (colour) => {
                    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
                    const [red, green, blue] = parts.map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
                    return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
                };
                const paper = luminance(getComputedStyle(document.body).backgroundColor);
                const isFaint = (element) => {
                    const style = getComputedStyle(element);
                    const ink = luminance(element.closest('svg') ? style.fill : style.color);
                    return Math.max(ink, paper) / Math.min(ink, paper) < 4.5;
                };
                const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
                return [...document.querySelectorAll('body *')].filter((element) => hasText(element) && isFaint(element))
                    .map((element) => element.textContent);
            })()",
        )?;
    }
    Ok(())
}
