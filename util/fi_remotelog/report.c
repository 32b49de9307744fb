#include "report.h"
int rlg_report(const struct rlg_options *options)
{
	return 1;
}
