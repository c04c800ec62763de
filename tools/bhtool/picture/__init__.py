# SPDX-License-Identifier: Apache-2.0
"""A machine as a picture: who has which cores, memory and devices, and who may reach whom.

split ─► what there is to draw, from a plan      layout ─► how wide and where, in inches      draw ─► matplotlib
"""
