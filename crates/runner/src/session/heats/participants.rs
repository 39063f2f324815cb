//! Who takes part in a heat.

use deadheat_model::{
    TargetId,
    heat::Role,
    heats::{Control, NextHeat, PlannedLoad},
};

/// Somebody who takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Participant {
    /// The server that is started: a stack, or the null server.
    pub(super) target: TargetId,
    pub(super) role: Role,
}

/// The members of a heat and its control, by place. The control is the last in the session's
/// first heat, the last but one in the next, and so on: a place must not be what tells a twin from its original.
///
/// # Errors
/// What is not in the plan.
pub(super) fn participants(
    load: &PlannedLoad,
    next: &NextHeat,
    heat: u32,
) -> Result<Vec<Participant>, String> {
    let stack = |number: usize| {
        let target = load.targets.get(number).cloned();
        target.ok_or_else(|| format!("{} has no stack of number {number}", load.name()))
    };
    let mut participants = Vec::new();
    for number in &next.members {
        let (target, role) = (stack(*number)?, Role::Member);
        participants.push(Participant { target, role });
    }
    if participants.is_empty() {
        return Err(format!("a heat of {} without stacks", load.name()));
    }
    let place = participants.len() - heat as usize % (participants.len() + 1);
    match next.control {
        None => {}
        Some(Control::Ceiling) => participants.insert(
            place,
            Participant {
                target: TargetId::null_server(),
                role: Role::Ceiling,
            },
        ),
        Some(Control::Twin { of }) => {
            let mut members = next.members.iter();
            let original = members.position(|number| *number == of);
            let original =
                original.ok_or_else(|| format!("the twin of number {of}, which is not in it"))?;
            // Those behind the twin move on by one place.
            let original = original + usize::from(original >= place);
            let twin = Participant {
                target: stack(of)?,
                role: Role::Twin {
                    of: original as u32,
                },
            };
            participants.insert(place, twin);
        }
    }
    Ok(participants)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::heats::fixture::load;

    fn taking_part(
        members: &[usize],
        control: Option<Control>,
    ) -> Result<Vec<(String, Role)>, String> {
        in_heat(0, members, control)
    }

    fn in_heat(
        heat: u32,
        members: &[usize],
        control: Option<Control>,
    ) -> Result<Vec<(String, Role)>, String> {
        let next = NextHeat {
            then: None,
            load: 0,
            members: members.to_vec(),
            control,
        };
        let participants = participants(&load(&["a", "b", "c"]), &next, heat)?.into_iter();
        Ok(participants
            .map(|one| (one.target.to_string(), one.role))
            .collect())
    }

    #[test]
    fn stacks_come_before_the_control_and_a_twin_knows_its_originals_place() {
        let named = |name: &str, role| (name.to_owned(), role);
        let (a, c) = (named("a", Role::Member), named("c", Role::Member));
        assert_eq!(taking_part(&[0, 2], None).unwrap(), [a.clone(), c.clone()]);
        let ceiling = taking_part(&[0, 2], Some(Control::Ceiling)).unwrap();
        let null = named("~null-server", Role::Ceiling);
        assert_eq!(ceiling, [a.clone(), c.clone(), null]);
        let twin = taking_part(&[0, 2], Some(Control::Twin { of: 2 })).unwrap();
        assert_eq!(twin, [a, c, named("c", Role::Twin { of: 1 })]);
    }

    #[test]
    fn the_control_is_in_each_place_by_turns() {
        let named = |name: &str, role| (name.to_owned(), role);
        let (a, c) = (named("a", Role::Member), named("c", Role::Member));
        let twin = |of| named("a", Role::Twin { of });
        let in_heat = |heat| in_heat(heat, &[0, 2], Some(Control::Twin { of: 0 })).unwrap();
        assert_eq!(in_heat(0), [a.clone(), c.clone(), twin(0)]);
        assert_eq!(in_heat(1), [a.clone(), twin(0), c.clone()]);
        assert_eq!(in_heat(2), [twin(1), a.clone(), c.clone()]);
        assert_eq!(in_heat(3), [a, c, twin(0)]);
    }

    #[test]
    fn who_is_not_planned_is_refused() {
        assert!(taking_part(&[3], None).unwrap_err().contains("number 3"));
        assert!(taking_part(&[], Some(Control::Ceiling)).is_err());
        assert!(taking_part(&[0], Some(Control::Twin { of: 1 })).is_err());
    }
}
