#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+1e-9*t.tv_nsec;}
int main(int c,char**v){
 cl_platform_id p[8];cl_uint n;clGetPlatformIDs(8,p,&n);cl_platform_id q=0;char b[256];
 for(unsigned i=0;i<n;i++){clGetPlatformInfo(p[i],CL_PLATFORM_NAME,256,b,0);if(strstr(b,v[1]))q=p[i];}
 cl_device_id d;clGetDeviceIDs(q,CL_DEVICE_TYPE_ALL,1,&d,0);cl_int e;cl_context x=clCreateContext(0,1,&d,0,0,&e);
 const char*s="__kernel void f(__global float4*a,__global float4*b,int n){for(int i=get_global_id(0);i<n;i+=get_global_size(0)) a[i]=a[i]*1.0001f+b[i];}";
 cl_program g=clCreateProgramWithSource(x,1,&s,0,&e);clBuildProgram(g,1,&d,"",0,0);cl_kernel k=clCreateKernel(g,"f",&e);
 cl_mem A=clCreateBuffer(x,CL_MEM_READ_WRITE,64<<20,0,&e),B=clCreateBuffer(x,CL_MEM_READ_WRITE,64<<20,0,&e);
 clSetKernelArg(k,0,8,&A);clSetKernelArg(k,1,8,&B);
 int sizes[]={256,262144,1<<20,2<<20};
 for(int z=0;z<4;z++){int m=sizes[z];clSetKernelArg(k,2,4,&m);size_t G=m<65536*4?m:65536*4,L=128;
 for(int prof=0;prof<2;prof++){cl_command_queue Q=clCreateCommandQueue(x,d,prof?CL_QUEUE_PROFILING_ENABLE:0,&e);
  for(int ev=0;ev<3;ev++){ int R=2000; double best=1e9; double host=0;
   for(int rep=0;rep<5;rep++){ clFinish(Q);double t=now();cl_event last=0;
    for(int i=0;i<R;i++){cl_event E=0;clEnqueueNDRangeKernel(Q,k,1,0,&G,&L,0,0,ev?&E:0); if(ev){ if(ev==2){ if(last)clReleaseEvent(last); last=E;} else clReleaseEvent(E);} if(i%50==0)clFlush(Q);}
    double h=now()-t;clFinish(Q);t=now()-t;if(last)clReleaseEvent(last);if(t<best){best=t;host=h;}}
   printf("n %d profiling %d event %d: %.2f us a launch, host %.2f\n",m,prof,ev,best/R*1e6,host/R*1e6);}
  clReleaseCommandQueue(Q);} 
  /* arguments set before each launch */
  cl_command_queue Q=clCreateCommandQueue(x,d,0,&e);int R=2000;double best=1e9;for(int rep=0;rep<5;rep++){clFinish(Q);double t=now();for(int i=0;i<R;i++){clSetKernelArg(k,0,8,&A);clSetKernelArg(k,1,8,&B);clSetKernelArg(k,2,4,&m);clEnqueueNDRangeKernel(Q,k,1,0,&G,&L,0,0,0);}clFinish(Q);t=now()-t;if(t<best)best=t;}printf("n %d arguments set, no event: %.2f\n",m,best/R*1e6);
 } return 0;}
