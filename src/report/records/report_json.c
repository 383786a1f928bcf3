#include "report/records/report.h"

Status report_json(Text *out, const ReportInput *input)
{
    return record_file_json(out, input->set);
}

Status report_jsonl(Text *out, const ReportInput *input)
{
    return record_file_jsonl(out, input->set);
}
