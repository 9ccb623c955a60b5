package infer

// SearchOnly decides every order of blind writes by search.
var SearchOnly = Options{searchOnly: true}
