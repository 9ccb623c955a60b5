// Package commute is a judge that knows no SQL: two neighbouring statements of different
// sessions that cannot bear on each other change places, and every answer and the final
// state must stay as they were.
//
// What may be swapped is chosen so that no order of the two can matter on any server:
//
//   - two statements inside transactions that name no table in common, where no foreign
//     key, trigger or view connects tables; at REPEATABLE READ only behind the first read,
//     which takes the snapshot, and not at SERIALIZABLE; no INSERT that numbers rows
//     (AUTO_INCREMENT, a hidden row id);
//   - a plain SELECT at REPEATABLE READ whose snapshot is open, and any statement inside
//     another transaction: the read takes no lock, and sees what it saw.
//
// Never swapped are statements that begin or end a transaction, or commit by themselves,
// what depends on chance, clock or session, and what runs beside a statement that waits.
// Runs whose waits or deadlocks differ are not compared (see Compare).
//
// The idea is TxCheck's (Jiang et al., OSDI 2023), which reorders whole transactions and
// was wrong where statements locked, waited or took snapshots.
package commute
