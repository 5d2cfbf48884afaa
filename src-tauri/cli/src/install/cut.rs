//! Our entries cut out of a client's settings, as text: not one comment of the person's goes with them.

use std::ops::Range;

use jsonc_parser::{
    CollectOptions,
    ast::{Array, Object, Value},
    common::Ranged as _,
    parse_to_ast,
};

use super::edit::{EditError, OPTIONS, Shape};

/// The text without the hooks that are ours, and without the lists and objects that are left empty by that.
pub(super) fn without(text: &str, shape: Shape, is_ours: &dyn Fn(&str) -> bool) -> Result<String, EditError> {
    let mut text = text.to_owned();
    loop {
        let ast = parse_to_ast(&text, &CollectOptions::default(), &OPTIONS);
        let ast = ast.map_err(|error| EditError::Unparseable(error.to_string()))?;
        let Some(Value::Object(top)) = ast.value else { return Ok(text) };
        let Some(nest) = nest(&top, shape, &|range| is_ours(&text[range])) else { return Ok(text) };
        let place = outermost(&nest, &text);
        text = cut(&text, place);
    }
}

/// A member of a list or an object, and where the one before it ends and the whole list does.
#[derive(Clone, Debug)]
struct Place {
    member: Range<usize>,
    after: usize,
    before: usize,
    is_alone: bool,
}

/// The first hook that is ours, and what it stands in, from within.
fn nest(top: &Object<'_>, shape: Shape, is_ours: &dyn Fn(Range<usize>) -> bool) -> Option<Vec<Place>> {
    let at = top.properties.iter().position(|prop| prop.name.as_str() == "hooks")?;
    let hooks = top.get_object("hooks")?;
    for (nth, event) in hooks.properties.iter().enumerate() {
        let Value::Array(list) = &event.value else { continue };
        for (place, element) in list.elements.iter().enumerate() {
            let mut nest = match (shape, element) {
                (Shape::Flat | Shape::Plugin, hook) if is_ours(range(hook)) => Vec::new(),
                (Shape::Grouped, Value::Object(group)) => {
                    let Some(inner) = group.get_array("hooks") else { continue };
                    let Some(mine) = inner.elements.iter().position(|hook| is_ours(range(hook))) else { continue };
                    vec![in_array(inner, mine)]
                }
                _ => continue,
            };
            nest.extend([in_array(list, place), in_object(hooks, nth), in_object(top, at)]);
            return Some(nest);
        }
    }
    None
}

fn range(node: &Value<'_>) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

fn in_array(array: &Array<'_>, nth: usize) -> Place {
    place(array.range.start, array.range.end, &array.elements.iter().map(range).collect::<Vec<_>>(), nth)
}

fn in_object(object: &Object<'_>, nth: usize) -> Place {
    let members: Vec<_> = object.properties.iter().map(|prop| prop.range.start..prop.range.end).collect();
    place(object.range.start, object.range.end, &members, nth)
}

fn place(start: usize, end: usize, members: &[Range<usize>], nth: usize) -> Place {
    Place {
        member: members[nth].clone(),
        after: nth.checked_sub(1).map_or(start + 1, |before| members[before].end),
        before: members.get(nth + 1).map_or(end - 1, |next| next.start),
        is_alone: members.len() == 1,
    }
}

/// The largest thing that would be empty, as far as nothing but ours would go with it. The settings themselves stay.
fn outermost<'a>(nest: &'a [Place], text: &str) -> &'a Place {
    let mut within = &nest[0];
    for around in &nest[1..] {
        let rest = [&text[around.member.start..within.member.start], &text[within.member.end..around.member.end]];
        if !within.is_alone || rest.iter().any(|rest| rest.contains("//") || rest.contains("/*")) {
            break;
        }
        within = around;
    }
    within
}

/// The text without a member, the comma that goes with it, and the blanks before it.
fn cut(text: &str, place: &Place) -> String {
    let Place { member, after, before, .. } = place;
    let (gap_before, gap_after) = (&text[*after..member.start], &text[member.end..*before]);
    let (mut head, mut tail) = (text[..member.start].to_owned(), text[member.end..].to_owned());
    if let Some(comma) = comma_in(gap_after) {
        tail.remove(comma);
    } else if let Some(comma) = comma_in(gap_before) {
        head.remove(after + comma);
    }
    let kept = head.trim_end_matches([' ', '\t', '\r', '\n']).len();
    // A comment to the end of its line needs that end.
    let last_line = &head[head[..kept].rfind('\n').map_or(0, |at| at + 1)..kept];
    if last_line.contains("//") {
        let end = head[kept..].find('\n').map_or(head.len(), |at| kept + at);
        if tail.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
            head.truncate(end);
        } else {
            head.truncate(end + 1);
        }
    } else {
        head.truncate(kept);
    }
    head + &tail
}

/// Where the comma is in what stands between two members.
fn comma_in(gap: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(c) = gap[at..].chars().next() {
        let rest = &gap[at..];
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if c == ',' {
            return Some(at);
        } else {
            c.len_utf8()
        };
    }
    None
}
