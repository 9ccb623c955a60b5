package findings

// DefaultOut is the folder of findings, relative to the root of the project.
const DefaultOut = "corpus/found"

// KnownDir is the folder of published cases, relative to the root of the
// project.
const KnownDir = "corpus/known"

// AuditDir is the folder of cases that guard the judgement of one form of SQL,
// relative to the root of the project.
const AuditDir = "corpus/audit"

// StoredDir is the folder of all stored cases, relative to the root of the
// project.
const StoredDir = "corpus"
