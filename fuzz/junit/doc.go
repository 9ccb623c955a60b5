// Package junit writes runs and replays in the XML that continuous integration
// reads as test results. The form is that of the Jenkins xUnit plug-in,
// junit-10.xsd (https://github.com/jenkinsci/xunit-plugin).
package junit
