package schemadump

import (
	"os"
	"strings"
	"testing"

	"github.com/txnfuzz/txnfuzz/corpus"
)

// read gives the tables of a text and what was left out or replaced, each as one line.
func read(t *testing.T, text string) (tables, left, stands string) {
	t.Helper()
	d, err := Read("x.sql", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var list []string
	for _, c := range d.Tables {
		list = append(list, corpus.SQL(c, corpus.Text))
	}
	return strings.Join(list, "; "), strings.Join(d.Left, "; "), strings.Join(d.Stands, "; ")
}

// TestReadPostgreSQL reads tables in PostgreSQL's words. Each text has a word by which they are told from MySQL's.
func TestReadPostgreSQL(t *testing.T) {
	for _, x := range []struct{ text, tables, left string }{
		{"CREATE TABLE t (a serial PRIMARY KEY, b text, c character varying(5) DEFAULT 'x'::character varying NOT NULL);",
			"CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b TEXT, c VARCHAR(5) NOT NULL DEFAULT 'x')", ""},
		{"CREATE TABLE public.t (a integer NOT NULL, b numeric, c double precision, d timestamp without time zone);\n" +
			"ALTER TABLE ONLY public.t ADD CONSTRAINT p PRIMARY KEY (a);",
			"CREATE TABLE t (a INT NOT NULL, b DECIMAL(20,4), c DOUBLE, d DATETIME(6), PRIMARY KEY(a))", ""},
		{"CREATE TABLE t (a integer NOT NULL);\nALTER TABLE ONLY t ALTER COLUMN a SET DEFAULT nextval('t_a_seq'::regclass);\n" +
			"ALTER TABLE ONLY t ADD CONSTRAINT p PRIMARY KEY (a);",
			"CREATE TABLE t (a INT NOT NULL AUTO_INCREMENT PRIMARY KEY)", ""},
		{"CREATE TABLE t (a bigint, b bigserial);",
			"CREATE TABLE t (a BIGINT, b BIGINT)", "what a sequence gives to a column that is not the primary key of t"},
		{"CREATE TABLE t (a text UNIQUE, b bytea, c text); CREATE TABLE u (a text REFERENCES t (a), c varchar(9)[]);\nALTER TABLE ONLY t ADD PRIMARY KEY (b);",
			"CREATE TABLE t (a VARCHAR(255), b VARBINARY(255), c TEXT, UNIQUE(a), PRIMARY KEY(b)); " +
				"CREATE TABLE u (a VARCHAR(255), CONSTRAINT FOREIGN KEY (a) REFERENCES t(a))", "column of the type varchar[] of u"},
		{"CREATE TABLE t (a int, CONSTRAINT c CHECK (((a)::text = ANY ((ARRAY['x'::character varying, 'it''s'::character varying])::text[]))));",
			"CREATE TABLE t (a INT, CHECK(((a) IN ('x', 'it''s'))))", ""},
		{`CREATE TABLE t (a int CHECK (a <> ALL (ARRAY[1, 2])), b varchar(3) CHECK (b::text <> '\'));`,
			`CREATE TABLE t (a INT, b VARCHAR(3), CHECK(a NOT IN (1, 2)), CHECK(b != '\\'))`, ""},
		{"CREATE TABLE t (a varchar(9) CHECK (a::text ~ 'x'), b text CHECK (b || 'y' = 'xy'), c int CHECK (c = ANY (f(1))));",
			"CREATE TABLE t (a VARCHAR(9), b TEXT, c INT)", "CHECK that MySQL's SQL has no words for of t"},
		{"CREATE TABLE t (a int, b int GENERATED ALWAYS AS ((a + 1)) STORED, c int DEFAULT '-5'::integer, d boolean DEFAULT true);",
			"CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS((a + 1)) STORED, c INT DEFAULT '-5', d TINYINT(1) DEFAULT TRUE)", ""},
		{"CREATE TABLE t (a uuid DEFAULT gen_random_uuid(), b timestamptz DEFAULT now());",
			"CREATE TABLE t (a CHAR(36), b DATETIME(6))", "default that is no literal of t"},
		{`CREATE TABLE "Order" ("select" int, "key" serial, PRIMARY KEY ("select", "key"), CHECK ("select" > 0));`,
			"CREATE TABLE `Order` (`select` INT, `key` INT, PRIMARY KEY(`select`, `key`), CHECK(`select` > 0))",
			"what a sequence gives to a column that is not the primary key of Order"},
		{"CREATE TYPE s.mood AS ENUM ('sad', 'ok''');\nCREATE TABLE t (a s.mood DEFAULT 'sad'::s.mood);",
			"CREATE TABLE t (a ENUM('sad', 'ok''') DEFAULT 'sad')", ""},
		{"CREATE DOMAIN d AS numeric(4,1) CHECK (VALUE > (0)::numeric);\nCREATE TABLE t (a d);",
			"CREATE TABLE t (a DECIMAL(4,1))", "CHECK of a domain of d"},
		{"CREATE TABLE t (a int, b int, c jsonb);\nCREATE INDEX x ON public.t USING btree (a DESC, b varchar_ops) INCLUDE (c);\n" +
			"CREATE UNIQUE INDEX y ON t (b) WHERE a > 1;\nCREATE INDEX z ON t (lower(c));\nCREATE INDEX ON t USING gin (c);",
			"CREATE TABLE t (a INT, b INT, c JSON, INDEX(a DESC, b))", "partial index of t; index on an expression of t; index by gin of t"},
		{"CREATE TABLE t (a int REFERENCES nowhere, b jsonb, UNIQUE (b));",
			"CREATE TABLE t (a INT, b JSON)", "key of a column that is left out or JSON of t; foreign key to a table that is left out of t"},
		{"CREATE TABLE p (a int, b int, PRIMARY KEY (a, b));\nCREATE TABLE t (x int, y int, z int::int, FOREIGN KEY (x, y) REFERENCES p " +
			"ON UPDATE CASCADE ON DELETE SET NULL (x) DEFERRABLE INITIALLY DEFERRED);",
			"CREATE TABLE p (a INT, b INT, PRIMARY KEY(a, b)); CREATE TABLE t (x INT, y INT, z INT, " +
				"CONSTRAINT FOREIGN KEY (x, y) REFERENCES p(a, b) ON DELETE SET NULL ON UPDATE CASCADE)",
			"columns behind ON DELETE SET of t; DEFERRABLE of t"},
		{"CREATE TABLE t (a timestamptz) PARTITION BY RANGE (a); CREATE TABLE u PARTITION OF t DEFAULT; CREATE TABLE v (b int);",
			"CREATE TABLE v (b INT)", "1 statement of the kind CREATE TABLE with partitions or heirs; " +
				"1 statement of the kind CREATE TABLE as a query, a partition or of a type"},
		{"CREATE FUNCTION f() RETURNS int AS $x$ SELECT 1; -- '\n$x$;\nCREATE OR REPLACE VIEW v AS SELECT 1;\n/* a /* b; */ c; */\n" +
			"CREATE TABLE t (a jsonb);\nCOPY t (a) FROM stdin;\n1;'\n\\.\nCREATE TABLE u (a int);\n\\connect x",
			"CREATE TABLE t (a JSON); CREATE TABLE u (a INT)", "1 statement of the kind CREATE FUNCTION; " +
				"1 statement of the kind CREATE VIEW; 1 statement of the kind COPY"},
		{"CREATE TABLE a.t (x timestamptz); CREATE TABLE b.t (x int);", "CREATE TABLE t (x DATETIME(6))",
			"1 statement of the kind CREATE TABLE of a name that another schema has, too"},
	} {
		tables, left, _ := read(t, x.text)
		if tables != x.tables {
			t.Errorf("%s\n%s\nwant\n%s", x.text, tables, x.tables)
		}
		if left != x.left {
			t.Errorf("%s\nleft out %q, want %q", x.text, left, x.left)
		}
	}
}

// TestReadPgDump reads what pg_dump 15 has written.
func TestReadPgDump(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema/shop-postgresql.sql")
	if err != nil {
		t.Fatal(err)
	}
	tables, left, stands := read(t, string(text))
	if want := "CREATE TABLE customers (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, email VARCHAR(255) NOT NULL, name VARCHAR(100), " +
		"credit DECIMAL(10,2) NOT NULL DEFAULT 0, tier ENUM('basic', 'gold', 'platinum') NOT NULL DEFAULT 'basic', settings JSON, " +
		"created_at DATETIME(6) NOT NULL, UNIQUE(email)); " +
		"CREATE TABLE order_items (order_id BIGINT NOT NULL, sku CHAR(8) NOT NULL, quantity SMALLINT NOT NULL DEFAULT 1, " +
		"PRIMARY KEY(order_id, sku), CHECK(((quantity > 0) AND (quantity <= 100))), " +
		"CONSTRAINT FOREIGN KEY (order_id) REFERENCES orders(id) ON DELETE CASCADE, " +
		"CONSTRAINT FOREIGN KEY (sku) REFERENCES products(sku) ON UPDATE CASCADE); " +
		"CREATE TABLE orders (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, customer_id INT NOT NULL, token CHAR(36), " +
		"placed DATETIME(6) NOT NULL, net DECIMAL(10,2) NOT NULL, total DECIMAL(12,2) GENERATED ALWAYS AS((net * 1.19)) STORED, " +
		"UNIQUE(token), INDEX(customer_id), CONSTRAINT FOREIGN KEY (customer_id) REFERENCES customers(id) ON DELETE CASCADE); " +
		"CREATE TABLE products (sku CHAR(8) NOT NULL, title TEXT, stock INT NOT NULL DEFAULT 0, price DECIMAL(8,2) NOT NULL, weight DOUBLE, " +
		"active TINYINT(1) NOT NULL DEFAULT TRUE, state VARCHAR(10) NOT NULL DEFAULT 'new', PRIMARY KEY(sku), INDEX(price DESC, active), " +
		"CHECK((price >= (0))), CHECK(((state) IN ('new', 'old', 'gone'))))"; tables != want {
		t.Errorf("%s\nwant\n%s", tables, want)
	}
	if want := "1 statement of the kind CREATE FUNCTION; 1 statement of the kind CREATE VIEW; 1 statement of the kind CREATE TRIGGER; " +
		"CHECK of a domain of money_amount; index on an expression of customers; partial index of products; DEFERRABLE of order_items; " +
		"column of the type text[] of customers; default that is no literal of customers"; left != want {
		t.Errorf("left out %s\nwant %s", left, want)
	}
	if want := "columns of the type ENUM are text with a CHECK; columns of the type timestamp with time zone are timestamp; " +
		"columns of the type uuid are varchar; columns of the type boolean are smallint"; stands != want {
		t.Errorf("%s\nwant %s", stands, want)
	}
}

// TestCutDump: a dump that is cut off anywhere is read as far as it goes, or refused.
func TestCutDump(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema/shop-postgresql.sql")
	if err != nil {
		t.Fatal(err)
	}
	const step = 37 // of 7,000 bytes
	most := 0
	for cut := 0; cut < len(text); cut += step {
		if d, err := Read("x.sql", text[:cut]); err == nil {
			most = max(most, len(d.Tables))
		}
	}
	if most != 4 {
		t.Errorf("%d tables at most", most)
	}
}

// TestFamilies tells whose words a dump is in.
func TestFamilies(t *testing.T) {
	for text, want := range map[string]bool{
		"CREATE TABLE `t` (a INT); -- PostgreSQL database dump":                  false,
		"CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(5), c INT)": false,
		"CREATE TABLE t (a INT, KEY (a)) ENGINE=InnoDB":                          false,
		"CREATE TABLE t (a character varying(5))":                                true,
		"CREATE TABLE t (id BIGSERIAL PRIMARY KEY)":                              true,
		"CREATE TABLE t (a TIMESTAMP WITH TIME ZONE)":                            true,
		"ALTER TABLE ONLY public.t ADD PRIMARY KEY (a);":                         true,
	} {
		if got := ofPostgreSQL(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
