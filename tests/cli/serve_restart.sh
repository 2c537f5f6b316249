# serve_restart.sh - a stopping server refuses new connections and answers those in the kernel's queue. A
# rolling restart of servers that share a socket (LISTEN_FDS) loses no request: 10,000 with
# SERVE_REQUESTS=10000.
# alone
. tests/cli/tiny_model.inc
. scripts/serve.inc
requests=${SERVE_REQUESTS:-1000}
tiny_model tiny
model=$TMP/tiny/best.safetensors
"$attn" serve -m "$model" --address nowhere.invalid 2>"$TMP/err"
if grep -q "built without" "$TMP/err"; then
    echo "skipped: built without libmicrohttpd"
    exit 77
fi
server=
trap 'kill $server 2>/dev/null' EXIT

# wait_for WHAT COMMAND...: repeats the command until it succeeds, for ten seconds
wait_for() {
    what=$1 tries=200
    shift
    while ! "$@"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "never: $what"
        sleep 0.05
    done
}

# ---- one server with one busy connection; another connection waits in the kernel's queue ----

serve_start -m "$model" --threads 1 --mini-batch 1 --beam-size 300 \
    --max-connections 1 || fail "$(cat "$TMP/serve.log")"
many=$(printf '%01000d' 0 | sed 's/0/"go .", /g; s/, $//')
post_json "{\"q\": [$many]}" >"$TMP/first" &
first=$!
sleep 0.2
get /health >"$TMP/waited" &
waited=$!
sleep 0.2
[ ! -s "$TMP/first" ] || fail "the first request did not take long enough"
kill "$server"
sleep 0.1
refused() { ! get /health >"$TMP/refused" && [ ! -s "$TMP/refused" ]; }
timeout 1 "$client" "$port" connect 1 >"$TMP/out"
[ $? -eq 1 ] || fail "a new connection was not refused at once: $(cat "$TMP/out")"
[ ! -s "$TMP/first" ] || fail "the first request did not take long enough"
refused || fail "a new connection was served: $(cat "$TMP/refused")"
wait $first
wait $waited
for one in first waited; do
    head -n 1 "$TMP/$one" | grep -q "200 OK" || fail "$one: $(cat "$TMP/$one")"
done
wait "$server" || fail "exit status"

# ---- a connection without a request yet, and an idle one ----

serve_start -m "$model" --threads 1 || fail "$(cat "$TMP/serve.log")"
mkfifo "$TMP/fifo.1" "$TMP/fifo.2"
for n in 1 2; do
    "$client" "$port" send <"$TMP/fifo.$n" >"$TMP/held.$n" &
    eval "held$n=$!"
done
exec 8>"$TMP/fifo.1" 9>"$TMP/fifo.2"
request='GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'
printf "$request" >&9
sleep 0.3
kill "$server"
sleep 0.2
printf "$request" >&8
printf "$request" >&9
exec 8>&- 9>&-
wait "$held1" "$held2"
[ "$(grep -c '^HTTP/1.1 200 ' "$TMP/held.1")" -eq 1 ] || fail "a new connection: $(cat "$TMP/held.1")"
[ "$(grep -c '^HTTP/1.1 200 ' "$TMP/held.2")" -eq 2 ] || fail "an idle connection: $(cat "$TMP/held.2")"
grep -q '^Connection: close' "$TMP/held.2" || fail "not the last answer: $(cat "$TMP/held.2")"
wait "$server" || fail "exit status"

# ---- a rolling restart ----

cut -f 1 "$TMP/tiny.tsv" >"$TMP/text"
"$attn" translate -m "$model" --split -q "$TMP/text" >"$TMP/translated" || fail "translate"
cat >"$TMP/roll.sh" <<'END'
# roll.sh: starts servers one after another on the socket of this script
start() {
    : >"$TMP/address"
    sh -c 'export LISTEN_PID=$$; exec "$0" serve -m "$1" --port 1 --threads 1 -q' "$attn" "$model" \
        >"$TMP/address" 2>>"$TMP/serve.log" &
    next=$!
    while [ ! -s "$TMP/address" ]; do
        kill -0 $next 2>/dev/null || exit 1
        sleep 0.02
    done
}
echo $PORT >"$TMP/port"
start
touch "$TMP/ready"
rolls=0
while [ ! -e "$TMP/enough" ]; do
    old=$next
    start
    kill $old
    wait $old || exit 2
    rolls=$((rolls + 1))
    echo $rolls >"$TMP/rolls"
done
cp "$TMP/address" "$TMP/last_address"
kill $next
wait $next
END
export TMP attn model
: >"$TMP/serve.log"
"$client" 0 listen sh "$TMP/roll.sh" &
server=$!
wait_for "the first server" [ -e "$TMP/ready" ]
port=$(cat "$TMP/port")
for n in 1 2 3 4; do
    timeout 300 "$client" "$port" connect $((requests / 4)) >"$TMP/connect.$n" &
    eval "connect$n=$!"
done
timeout 300 "$client" "$port" load 2 3 "$TMP/text" "$TMP/translated" >"$TMP/load" 2>&1 ||
    fail "$(cat "$TMP/load")"
wait "$connect1" && wait "$connect2" && wait "$connect3" && wait "$connect4" || fail "$(cat "$TMP"/connect.*)"
wait_for "three restarts" grep -q '[0-9][0-9]\|[3-9]' "$TMP/rolls"
touch "$TMP/enough"
wait "$server" || fail "a server ended badly: $? $(cat "$TMP/serve.log")"
server=
[ "$(cat "$TMP/last_address")" = "http://127.0.0.1:$port/" ] || fail "address: $(cat "$TMP/last_address")"
echo "$(cat "$TMP/rolls") restarts; $(cat "$TMP"/connect.* "$TMP/load" | tr '\n' ';')"

# The descriptor must be one listening socket.
expect 2 sh -c 'LISTEN_FDS=2 LISTEN_PID=$$ exec "$@"' sh "$attn" serve -m "$model"
says "LISTEN_FDS passes 2 sockets instead of one"
expect 1 sh -c 'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3</dev/null' sh "$attn" serve -m "$model"
says "is not a listening TCP socket"
LISTEN_FDS=1 LISTEN_PID=1 serve_start -m "$model" ||
    fail "the socket of another process: $(cat "$TMP/serve.log")"
serve_stop || fail "exit status"
