/* Answers what the loaded SELinux policy knows: the questions LABEL_IS_VALID and LABEL_LETS (ask/labelquery.h). */
#ifndef GPUHELPER_LABEL_POLICYANSWER_H
#define GPUHELPER_LABEL_POLICYANSWER_H

#include "../ask/labelquery.h"

/* Returns out->yes, and fills in the label or the reason. */
int policy_answer(const struct label_query *a, struct label_answer *out);

#endif
