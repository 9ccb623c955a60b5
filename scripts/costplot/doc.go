// Command costplot draws what checking a history costs against its size, from costs.tsv, as
// costs.svg:
//
//	go run -tags notidb ./scripts/costplot
//
// It also makes the histories that are measured, and measures:
//
//	go run -tags notidb ./scripts/costplot make lists 100000 > history.edn
//	go run -tags notidb ./scripts/costplot make registers 100000 > history.txt
//	go run -tags notidb ./scripts/costplot measure [NAME=COMMAND…]
package main
