/* The charts of a page as files: `report --charts DIR`. A browser without a window draws them, for they
 * are the page's own. */
#pragma once

#include "base/text.h"

/* Writes NAME.svg and NAME.csv for every chart of the page into the folder, which is made where it is
 * missing. ST_UNSUPPORTED: there is no Chromium. */
Status chart_folder_write(const char *folder, const Text *page);
