package infer

// SearchOnly decides every order of blind writes by search.
var SearchOnly = Options{searchOnly: true}

// ClockFirst asks the clock for every order of blind writes before anything else.
var ClockFirst = Options{clockFirst: true}
