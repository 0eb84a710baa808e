#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char*src=
"#if BITS==64\n#pragma OPENCL EXTENSION cl_khr_fp64:enable\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"
"__kernel void op(__global real*x,int steps){int g=get_global_id(0);\n"
"real s[M][N];real a[M],b[N];\n"
"_Pragma(\"unroll\") for(int i=0;i<M;i++){a[i]=x[(g+i)&1023];_Pragma(\"unroll\") for(int j=0;j<N;j++)s[i][j]=x[(g+i*N+j)&1023];}\n"
"_Pragma(\"unroll\") for(int j=0;j<N;j++)b[j]=x[(g+j+77)&1023];\n"
"#if CPLX\nreal t[M][N];real ai[M],bi[N];\n_Pragma(\"unroll\") for(int i=0;i<M;i++){ai[i]=x[(g+i+9)&1023];_Pragma(\"unroll\") for(int j=0;j<N;j++)t[i][j]=x[(g+i*N+j+5)&1023];}\n_Pragma(\"unroll\") for(int j=0;j<N;j++)bi[j]=x[(g+j+79)&1023];\n#endif\n"
"for(int k=0;k<steps;k++){\n"
"#if CPLX\n"
"#if ORDER==0\n"
"_Pragma(\"unroll\") for(int j=0;j<N;j++){_Pragma(\"unroll\") for(int i=0;i<M;i++){s[i][j]=fma(a[i],b[j],s[i][j]);t[i][j]=fma(a[i],bi[j],t[i][j]);s[i][j]=fma(-ai[i],bi[j],s[i][j]);t[i][j]=fma(ai[i],b[j],t[i][j]);}}\n"
"#elif ORDER==1\n"
"_Pragma(\"unroll\") for(int j=0;j<N;j++){_Pragma(\"unroll\") for(int i=0;i<M;i++)s[i][j]=fma(a[i],b[j],s[i][j]);_Pragma(\"unroll\") for(int i=M-1;i>=0;i--)t[i][j]=fma(ai[i],b[j],t[i][j]);_Pragma(\"unroll\") for(int i=0;i<M;i++)t[i][j]=fma(a[i],bi[j],t[i][j]);_Pragma(\"unroll\") for(int i=M-1;i>=0;i--)s[i][j]=fma(-ai[i],bi[j],s[i][j]);}\n"
"#endif\n"
"#else\n"
"#if ORDER==0\n"
"_Pragma(\"unroll\") for(int j=0;j<N;j++){_Pragma(\"unroll\") for(int i=0;i<M;i++)s[i][j]=fma(a[i],b[j],s[i][j]);}\n"
"#elif ORDER==1\n"
"_Pragma(\"unroll\") for(int j=0;j<N;j++){_Pragma(\"unroll\") for(int i=0;i<M;i++){int q=j&1?M-1-i:i;s[q][j]=fma(a[q],b[j],s[q][j]);}}\n"
"#elif ORDER==2\n"
"_Pragma(\"unroll\") for(int j=0;j<N;j+=2){_Pragma(\"unroll\") for(int i=0;i<M;i++){s[i][j]=fma(a[i],b[j],s[i][j]);s[i][j+1]=fma(a[i],b[j+1],s[i][j+1]);}}\n"
"#elif ORDER==3\n"
"_Pragma(\"unroll\") for(int j=0;j<N;j+=2){_Pragma(\"unroll\") for(int i=0;i<M;i++){int o=i&1;s[i][j+o]=fma(a[i],b[j+o],s[i][j+o]);s[i][j+1-o]=fma(a[i],b[j+1-o],s[i][j+1-o]);}}\n"
"#endif\n#endif\n}\n"
"real r=0;_Pragma(\"unroll\") for(int i=0;i<M;i++){_Pragma(\"unroll\") for(int j=0;j<N;j++){r+=s[i][j];\n#if CPLX\nr+=t[i][j];\n#endif\n}}\n"
"x[1024+g]=r;}\n";
int main(){cl_platform_id p[8];cl_uint np;clGetPlatformIDs(8,p,&np);cl_device_id d=0;for(cl_uint i=0;i<np;i++){char nm[256];clGetPlatformInfo(p[i],CL_PLATFORM_NAME,256,nm,0);if(!d||strstr(nm,"NVIDIA"))clGetDeviceIDs(p[i],CL_DEVICE_TYPE_ALL,1,&d,0);}
cl_int e;cl_context c=clCreateContext(0,1,&d,0,0,&e);cl_command_queue q=clCreateCommandQueue(c,d,CL_QUEUE_PROFILING_ENABLE,&e);
struct{int b,cx,m,n,o,w;}v[]={{64,0,8,8,0,256},{64,0,8,8,1,256},{64,0,8,8,2,256},{64,0,8,8,3,256},{64,0,4,8,0,256},{64,0,8,4,0,256},{64,0,4,4,0,256},{64,0,1,8,0,256},{64,1,4,4,0,256},{64,1,4,4,1,256},
{32,0,8,8,0,256},{32,0,8,8,1,256},{32,0,8,8,2,256},{32,0,8,8,3,256},{32,0,16,8,0,256},{32,0,16,8,1,256},{32,0,1,16,0,256},{32,1,8,4,0,256},{32,1,8,4,1,256},{32,1,4,4,0,256},{32,1,4,4,1,256}};
for(unsigned i=0;i<sizeof v/sizeof*v;i++){char o[200];sprintf(o,"-DBITS=%d -DCPLX=%d -DM=%d -DN=%d -DORDER=%d",v[i].b,v[i].cx,v[i].m,v[i].n,v[i].o);
cl_program pr=clCreateProgramWithSource(c,1,&src,0,&e);if(clBuildProgram(pr,1,&d,o,0,0)){char l[4000];clGetProgramBuildInfo(pr,d,CL_PROGRAM_BUILD_LOG,4000,l,0);puts(l);continue;}
cl_kernel k=clCreateKernel(pr,"op",&e);size_t g=132*2*v[i].w*4,w=v[i].w;cl_mem x=clCreateBuffer(c,CL_MEM_READ_WRITE,(1024+g)*8,0,&e);double z=0;
char*hx=malloc((1024+g)*8);for(size_t r=0;r<1024+g;r++){if(v[i].b==64)((double*)hx)[r]=(rand()%2000-1000)*1e-6;else((float*)hx)[r]=(rand()%2000-1000)*1e-6;}clEnqueueWriteBuffer(q,x,1,0,(1024+g)*8,hx,0,0,0);
int st=getenv("STEPS")?atoi(getenv("STEPS")):2000;clSetKernelArg(k,0,sizeof x,&x);clSetKernelArg(k,1,4,&st);double best=1e9;for(int r=0;r<8;r++){cl_event ev;e=clEnqueueNDRangeKernel(q,k,1,0,&g,&w,0,0,&ev);clWaitForEvents(1,&ev);cl_ulong a,b;clGetEventProfilingInfo(ev,CL_PROFILING_COMMAND_START,8,&a,0);clGetEventProfilingInfo(ev,CL_PROFILING_COMMAND_END,8,&b,0);if(b-a<best)best=b-a;}
printf("%d bits complex %d %dx%d order %d: %.1f TFLOP/s err %d\n",v[i].b,v[i].cx,v[i].m,v[i].n,v[i].o,2.0*(v[i].cx?4:1)*v[i].m*v[i].n*st*g/best/1e3,e);fflush(stdout);clReleaseMemObject(x);}
return 0;}
