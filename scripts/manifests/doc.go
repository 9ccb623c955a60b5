// Package manifests has no code of its own. Its test reads the manifests of Kubernetes in
// docs/fleet as the API server does.
package manifests
