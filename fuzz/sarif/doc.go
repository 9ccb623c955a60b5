// Package sarif writes findings as SARIF 2.1.0, which code hosts show beside
// the code (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
// The "code" is the case that shows the defect.
package sarif
