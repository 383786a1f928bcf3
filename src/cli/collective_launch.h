/* How ranks of `collective` are started, also by commands that measure links between ranks. */
#pragma once

#include "bench/measure/rank_launch.h"
#include "config/settings.h"

RankLaunch collective_launch(const Settings *settings);
