/* The wrapper's side of replies (reply.h). */
#ifndef GPUHELPER_ASK_REPLYREAD_H
#define GPUHELPER_ASK_REPLYREAD_H

#include "reply.h"

/* Decodes what the helper wrote; run by the wrapper. 0, or -1 with *why; reply_free() in any case. */
int reply_decode(const char *text, size_t len, struct reply *r, struct why *why);

#endif
