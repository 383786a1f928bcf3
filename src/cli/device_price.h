/* --price: what an hour of the device costs. */
#pragma once

#include "base/status.h"
#include "config/settings.h"

/* 0: not given. ST_USAGE: it is no price. */
Status device_price_read(const Settings *settings, double *price);
