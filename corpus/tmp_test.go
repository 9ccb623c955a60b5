package corpus
import ("testing";"os";"strings")
func TestTmp2(t *testing.T) {
	b,_:=os.ReadFile("/tmp/stmts.sql")
	for _,s:=range strings.Split(string(b),"\n") {
		if s=="" {continue}
		st,err:=ParseStatement(s)
		if err!=nil {t.Logf("ERR %v   <%s>",err,s);continue}
		for d:=Text;d<=TiDB;d++{ t.Logf("%d %s",d,SQL(st,d))}
	}
}
