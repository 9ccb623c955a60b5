#!/bin/bash -eu
# Runs in the image of OSS-Fuzz or ClusterFuzzLite, which sets OUT and has clang.
cd "$SRC/txnfuzz"
export CLANG="${CC:-clang}"
scripts/libfuzzer build fuzz_parse fuzz_generate fuzz_txn_pair

zip -qj "$OUT/fuzz_parse_seed_corpus.zip" corpus/known/*.sql
seeds=$(mktemp -d)
: >"$seeds/simplest" # no bytes are the simplest case
for i in $(seq 20); do
	head -c 960 <(openssl enc -aes-128-ctr -nosalt -pass "pass:$i" -pbkdf2 </dev/zero 2>/dev/null) >"$seeds/random-$i"
done
zip -qj "$OUT/fuzz_generate_seed_corpus.zip" "$seeds"/*
cp "$OUT/fuzz_generate_seed_corpus.zip" "$OUT/fuzz_txn_pair_seed_corpus.zip"

# The words of a case's text; an input of the others is choices, not text.
grep -ohE '[A-Z]{2,}' corpus/known/*.sql | sort -u | sed 's/.*/"&"/' >"$OUT/fuzz_parse.dict"
for name in fuzz_parse fuzz_generate; do
	printf '[libfuzzer]\nuse_counters = 0\nlen_control = 0\nmax_len = 4096\n' >"$OUT/$name.options"
done
printf '[libfuzzer]\nuse_counters = 0\nlen_control = 0\nmax_len = 960\ntimeout = 30\nrss_limit_mb = 4096\n' >"$OUT/fuzz_txn_pair.options"
