/* SPDX-License-Identifier: Apache-2.0
 *
 * parse.c - llhttp's callbacks, and what it leaves to its user to check.
 *
 * While a head is parsed, rq->spans says where its strings are; they are
 * terminated in place when the parser has left it. Header fields that come
 * without rq->spans are trailers behind a chunked body: counted, not used.
 */
#include "http/parse.h"

#include <string.h>
#include <strings.h>

#include "http/body.h"

#define TRAILING_MAX (16 * 1024)

struct span {
	char *at;
	size_t n;
};

struct http_spans {
	struct span url;
	struct span name[HTTP_HEADERS_MAX + 1]; /* one more: the one that is too many */
	struct span value[HTTP_HEADERS_MAX + 1];
	int count;
};

static int extend(struct span *span, const char *at, size_t n)
{
	if (!span->at)
		span->at = (char *)at;
	span->n += n;
	return 0;
}

static int on_trailing(llhttp_t *parser, const char *at, size_t n)
{
	struct http_request *rq = parser->data;

	(void)at;
	rq->trailing_bytes += n;
	if (rq->trailing_bytes <= TRAILING_MAX)
		return 0;
	inis_fail(&rq->body_error, INIS_BAD_REQUEST, "chunk extensions or trailers are too large");
	return -1;
}

static int on_url(llhttp_t *parser, const char *at, size_t n)
{
	struct http_request *rq = parser->data;

	return extend(&rq->spans->url, at, n);
}

static int on_header_field(llhttp_t *parser, const char *at, size_t n)
{
	struct http_request *rq = parser->data;

	if (!rq->spans)
		return on_trailing(parser, at, n);
	return extend(&rq->spans->name[rq->spans->count], at, n);
}

static int on_header_value(llhttp_t *parser, const char *at, size_t n)
{
	struct http_request *rq = parser->data;

	if (!rq->spans)
		return on_trailing(parser, at, n);
	return extend(&rq->spans->value[rq->spans->count], at, n);
}

static int on_header_value_complete(llhttp_t *parser)
{
	struct http_request *rq = parser->data;

	if (rq->spans && ++rq->spans->count > HTTP_HEADERS_MAX)
		return -1;
	return 0;
}

static int on_headers_complete(llhttp_t *parser)
{
	struct http_request *rq = parser->data;

	rq->keep_alive = llhttp_should_keep_alive(parser);
	/* An offer to leave HTTP is not taken up: go on as if it had not been made. */
	parser->upgrade = 0;
	return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t n)
{
	return http_body_take(parser->data, (const uint8_t *)at, n);
}

/* Stops before the next request on the connection, which waits for the answer to this one. */
static int on_message_complete(llhttp_t *parser)
{
	struct http_request *rq = parser->data;

	rq->received = true;
	return HPE_PAUSED;
}

static const llhttp_settings_t SETTINGS = {
	.on_url = on_url,
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_header_value_complete = on_header_value_complete,
	.on_headers_complete = on_headers_complete,
	.on_body = on_body,
	.on_chunk_extension_name = on_trailing,
	.on_chunk_extension_value = on_trailing,
	.on_message_complete = on_message_complete,
};

static const char *terminate(struct span *span)
{
	static const char empty[] = "";

	/* An empty value may be placed on the next line already. */
	if (!span->at || span->n == 0)
		return empty;
	while (span->n > 0 && (span->at[span->n - 1] == ' ' || span->at[span->n - 1] == '\t'))
		span->n--;
	span->at[span->n] = '\0';
	return span->at;
}

static void lower(char *s)
{
	for (; *s; s++) {
		if (*s >= 'A' && *s <= 'Z')
			*s |= 0x20;
	}
}

static int take_headers(struct http_request *rq, struct http_spans *spans, struct inis_error *err)
{
	for (int i = 0; i < spans->count; i++) {
		struct http_pair *h = &rq->headers[rq->header_count++];

		if (spans->name[i].n == 0)
			return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: a header without a name");
		h->name = terminate(&spans->name[i]);
		h->value = terminate(&spans->value[i]);
		lower(spans->name[i].at);
	}
	return 0;
}

static int check_host(const struct http_request *rq, struct inis_error *err)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%!$&'()*+,;=:[]";
	const char *host = http_header(rq, "host");
	int count = http_header_count(rq, "host");

	if (count > 1 || (count == 0 && !rq->http10))
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: there must be one Host header");
	if (host && host[strspn(host, allowed)] != '\0')
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: bad Host header");
	return 0;
}

/* What decides about a request is said once: of two, somebody between might have believed the other one. */
static int check_once(const struct http_request *rq, struct inis_error *err)
{
	static const char *const names[] = {"authorization", "idempotency-key", "content-type", "content-encoding"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (http_header_count(rq, names[i]) > 1)
			return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: more than one header %s", names[i]);
	}
	return 0;
}

static int check_content_coding(const struct http_request *rq, struct inis_error *err)
{
	const char *coding = http_header(rq, "content-encoding");

	if (!coding || *coding == '\0' || strcasecmp(coding, "identity") == 0)
		return 0;
	return inis_fail(err, INIS_BAD_REQUEST, "no content coding is known here: send the body as it is");
}

/* The parser refuses most of this too; here it does not depend on the parser's version. */
static int check_framing(struct http_request *rq, const llhttp_t *parser, struct inis_error *err)
{
	const char *coding = http_header(rq, "transfer-encoding");
	const char *length = http_header(rq, "content-length");
	const char *expect = http_header(rq, "expect");

	if (coding && (length || rq->http10 || http_header_count(rq, "transfer-encoding") > 1))
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: conflicting body length");
	if (coding && strcasecmp(coding, "chunked") != 0)
		return inis_fail(err, INIS_BAD_REQUEST, "the only transfer coding known here is chunked");
	if (length && (http_header_count(rq, "content-length") > 1 || *length == '\0' ||
		       length[strspn(length, "0123456789")] != '\0' || parser->content_length > INT64_MAX))
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: bad Content-Length");
	rq->content_length = coding ? -1 : (int64_t)parser->content_length;
	rq->expects_continue = !rq->http10 && expect && strcasecmp(expect, "100-continue") == 0;
	return 0;
}

/* Path and query of a request target, which may be a whole http: URL. */
static int take_target(struct http_request *rq, struct span *url, struct inis_error *err)
{
	char *target = url->at, *query;

	if (!target)
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: no URL");
	target[url->n] = '\0';
	if (strncasecmp(target, "http://", 7) == 0 || strncasecmp(target, "https://", 8) == 0)
		target += strcspn(target + 8, "/?") + 8;
	if (*target != '/' || strchr(target, '#'))
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: the URL must be a path");
	rq->path = target;
	query = strchr(target, '?');
	if (!query)
		return 0;
	*query = '\0';
	rq->query_count = http_query_split(query + 1, rq->query, err);
	return rq->query_count < 0 ? -1 : 0;
}

static int take_head(struct http_request *rq, llhttp_t *parser, struct http_spans *spans, struct inis_error *err)
{
	rq->method = llhttp_method_name(parser->method);
	rq->http10 = parser->http_minor == 0;
	if (take_headers(rq, spans, err) < 0 || check_host(rq, err) < 0 || check_once(rq, err) < 0 ||
	    check_content_coding(rq, err) < 0 || check_framing(rq, parser, err) < 0)
		return -1;
	if (rq->http10)
		rq->keep_alive = false;
	return take_target(rq, &spans->url, err);
}

static int run(llhttp_t *parser, struct http_request *rq, size_t n, struct inis_error *err)
{
	struct http_spans spans;
	llhttp_errno_t status;

	memset(&spans, 0, sizeof(spans));
	rq->spans = &spans;
	status = llhttp_execute(parser, rq->text, n);
	rq->spans = NULL;
	if (spans.count > HTTP_HEADERS_MAX)
		return inis_fail(err, INIS_BAD_REQUEST, "more than %d headers", HTTP_HEADERS_MAX);
	if (status == HPE_PAUSED)
		llhttp_resume(parser);
	else if (status != HPE_OK)
		return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: %s", llhttp_get_error_reason(parser));
	if (parser->http_major != 1 || parser->http_minor > 1)
		return inis_fail(err, INIS_BAD_REQUEST, "only HTTP/1.0 and HTTP/1.1 are spoken here");
	return take_head(rq, parser, &spans, err);
}

struct http_request *http_head_parse(llhttp_t *parser, const uint8_t *head, size_t n, size_t first_line,
				     struct inis_error *err)
{
	struct http_request *rq = http_request_new(n + 1 + first_line);

	if (!rq) {
		inis_fail(err, INIS_UNAVAILABLE, "out of memory");
		return NULL;
	}
	memcpy(rq->text, head, n);
	rq->text[n] = '\0';
	rq->room = rq->text + n + 1;
	llhttp_init(parser, HTTP_REQUEST, &SETTINGS);
	parser->data = rq;
	if (run(parser, rq, n, err) < 0) {
		http_request_put(rq);
		return NULL;
	}
	return rq;
}

ssize_t http_body_parse(llhttp_t *parser, struct http_request *rq, const uint8_t *data, size_t n,
			struct inis_error *err)
{
	llhttp_errno_t status = llhttp_execute(parser, (const char *)data, n);

	if (status == HPE_OK)
		return (ssize_t)n;
	if (status == HPE_PAUSED) {
		const char *end = llhttp_get_error_pos(parser);

		llhttp_resume(parser);
		return end - (const char *)data;
	}
	if (rq->body_error.code != INIS_OK)
		return inis_fail_copy(err, &rq->body_error);
	return inis_fail(err, INIS_BAD_REQUEST, "malformed HTTP: %s", llhttp_get_error_reason(parser));
}
