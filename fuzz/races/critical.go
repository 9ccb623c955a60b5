package races

import (
	"strings"

	"github.com/txnfuzz/txnfuzz/oracle/history"
)

// critical are the beginnings of the names of functions that open snapshots, commit, and look at or lock rows and keys
// that others may change: instructions of these are tried in each case, whether or not an outcome was seen to change
// there. In a program without symbols nothing has such a name, and what is tried is learned alone.
var critical = map[history.DBMS][]string{history.PostgreSQL: {
	"GetSnapshotData", "GetTransactionSnapshot", "GetSerializableTransactionSnapshot", "XidInMVCCSnapshot",
	"TransactionIdIsInProgress", "TransactionIdDidCommit", "TransactionLogFetch", "GetNewTransactionId",
	"CommitTransaction", "RecordTransactionCommit", "ProcArrayEndTransaction", "TransactionIdCommitTree",
	"TransactionIdAsyncCommitTree", "TransactionIdSet", "AbortTransaction", "RecordTransactionAbort",
	"PreCommit_CheckForSerializationFailure", "CheckForSerializableConflict", "PredicateLock",
	"CreatePredicateLock", "FlagRWConflict", "OnConflict_", "ReleasePredicateLocks", "SetRWConflict",
	"TransferPredicateLocks", "heap_lock_", "heap_update", "heap_delete", "heap_insert", "heapam_tuple_",
	"heap_acquire_tuplock", "heap_hot_search", "heap_page_prune", "heap_prune", "HeapTupleSatisfies",
	"UpdateXmaxHintBits", "SetHintBits", "HeapTupleSetHintBits", "compute_new_xmax_infomask",
	"DoesMultiXactIdConflict", "MultiXactId", "XactLockTable", "ConditionalXactLockTable", "_bt_check_unique",
	"_bt_doinsert", "check_exclusion", "ExecCheckIndexConstraints", "ExecInsertIndexTuples", "ExecOnConflict",
	"SpeculativeInsertion", "heap_finish_speculative", "heap_abort_speculative", "RI_", "ri_", "EvalPlanQual",
	"ExecUpdate", "ExecDelete", "ExecInsert", "ExecLockRows", "IndexOnlyNext", "IndexNext", "index_fetch_heap",
	"visibilitymap_",
}}

// entries are functions at whose beginnings a statement is held before it is recorded, which takes seconds: most
// statements come to some of them.
var entries = map[history.DBMS][]string{history.PostgreSQL: {
	"GetSnapshotData", "GetSerializableTransactionSnapshot", "TransactionIdIsInProgress", "GetNewTransactionId",
	"CommitTransaction", "RecordTransactionCommit", "XLogFlush", "TransactionIdSetTreeStatus",
	"ProcArrayEndTransaction", "ProcArrayEndTransactionInternal", "AtEOXact_RelationCache", "ResourceOwnerRelease",
	"LockReleaseAll", "AtCommit_Notify", "PreCommit_CheckForSerializationFailure", "ReleasePredicateLocks",
	"CheckForSerializableConflictOut", "CheckForSerializableConflictIn", "PredicateLockTID", "PredicateLockPage",
	"PredicateLockRelation", "PredicateLockAcquire", "CreatePredicateLock", "FlagRWConflict", "heap_lock_tuple",
	"heap_update", "heap_delete", "heap_insert", "compute_new_xmax_infomask", "MultiXactIdCreate",
	"MultiXactIdExpand", "XactLockTableWait", "HeapTupleSatisfiesUpdate", "HeapTupleSatisfiesVisibility",
	"heap_hot_search_buffer", "heap_page_prune_opt", "heap_page_prune_and_freeze", "_bt_doinsert", "_bt_search",
	"_bt_insertonpg", "_bt_first", "index_getnext_tid", "index_fetch_heap", "btgettuple",
	"check_exclusion_or_unique_constraint", "ExecCheckIndexConstraints", "ExecInsertIndexTuples",
	"ExecOnConflictUpdate", "heap_finish_speculative", "heap_abort_speculative", "SpeculativeInsertionLockAcquire",
	"ri_PerformCheck", "RI_FKey_check_ins", "EvalPlanQual", "EvalPlanQualFetchRowMark", "heapam_tuple_lock",
	"heapam_tuple_update", "ExecLockRows", "table_scan_getnextslot", "heap_getnextslot", "ReadBufferExtended",
	"PageAddItemExtended", "XLogInsert", "SubTransSetParent", "CommitSubTransaction", "AbortSubTransaction",
	"AbortTransaction", "BitmapHeapNext", "btgetbitmap",
}}

// isCritical says that a function of a server is one of these.
func isCritical(on history.DBMS, function string) bool {
	for _, prefix := range critical[on] {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}
